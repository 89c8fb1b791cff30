import type { Difference } from '../pipeline/ledger.js';
import type { Rig } from '../pipeline/rig.js';
import type { Journal, RecordPosition } from './journal.js';

/** The position at the start of a row's text: `topic/log/partition/offset` or `log/partition/offset/index`. */
const POSITION = /^(?:([\w.-]+)\/)?([0-9a-f]{8}-[0-9a-f-]{27})\/(\d+)\/(\d+)/;
const MAX_LINES = 200;

interface Part {
  readonly part: string;
  readonly rows: number;
  readonly made: string;
  readonly level: number;
}

/**
 * The origin of missing, duplicate or surplus rows of a table: the parts that contain them, the
 * inserts of them, and the events at that time.
 */
export async function explain(rig: Rig, journal: Journal, table: string, wrong: Difference): Promise<string[]> {
  const positions = [...wrong.duplicate, ...wrong.invented, ...wrong.missing].flatMap(
    (text) => answerRefOf(text) ?? [],
  );
  const lines: string[] = [];
  for (const group of byPartition(positions)) {
    const { topic = '', log, partition } = group[0] as RecordPosition;
    const offsets = [...new Set(group.map(({ offset }) => offset))].sort((a, b) => a - b);
    const where = `_log = '${log}' AND _partition = ${partition} AND _offset IN (${offsets.join(', ')})`;
    const parts = await rig.rows<Part>(
      `SELECT rows.part AS part, rows.n AS rows, toString(parts.modification_time) AS made, parts.level AS level
       FROM (SELECT _part AS part, count() AS n FROM ${table} WHERE ${where} GROUP BY part) AS rows
       LEFT JOIN (SELECT name, modification_time, level FROM system.parts
                  WHERE database = 'chancery' AND table = '${table}') AS parts ON parts.name = rows.part
       ORDER BY part`,
    );
    lines.push(`${table}, ${topic} log ${log}, partition ${partition}, offsets ${offsets.join(' ')}:`);
    for (const { part, rows, made, level } of parts) {
      lines.push(`  ${rows} rows in part ${part}, made ${made}, merged ${level} times`);
    }
    const told = journal.about(table, group);
    lines.push(...told.slice(0, MAX_LINES).map((line) => `  ${line}`));
    if (told.length > MAX_LINES) lines.push(`  and ${told.length - MAX_LINES} lines more`);
  }
  return lines;
}

function answerRefOf(text: string): RecordPosition | undefined {
  const [, topic, log, partition, offset] = POSITION.exec(text) ?? [];
  if (log === undefined) return undefined;
  return { ...(topic === undefined ? {} : { topic }), log, partition: Number(partition), offset: Number(offset) };
}

function byPartition(positions: readonly RecordPosition[]): RecordPosition[][] {
  const groups = new Map<string, RecordPosition[]>();
  for (const position of positions) {
    const key = `${position.topic}/${position.log}/${position.partition}`;
    groups.set(key, [...(groups.get(key) ?? []), position]);
  }
  return [...groups.values()];
}
