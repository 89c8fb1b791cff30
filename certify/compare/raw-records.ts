import type { Bus, PartitionInfo } from '../../bus/index.js';
import { type Comparison, Differences } from '../comparison.js';
import type { Query } from '../recorded.js';

interface Envelope {
  readonly sid: string;
  readonly n: number;
  readonly kind: string;
  readonly piece?: { readonly i: number };
}

/** Rows read at a time. */
const CHUNK = 50_000;

/**
 * Compares every record that was on the bus with `raw_records`. A record that cannot be read is a dead letter; one that
 * repeats an earlier record of its session, after an append whose answer was lost, has no row.
 */
export async function compareRawRecords(
  bus: Bus,
  partitions: readonly PartitionInfo[],
  query: Query,
): Promise<Comparison> {
  const differences = new Differences('raw records');
  let expected = 0;
  let found = 0;
  for (const info of partitions) {
    const last = new Map<string, number>();
    for (let from = info.begin; from < info.end; from += CHUNK) {
      const to = Math.min(info.end, from + CHUNK);
      const rows = await rowsOf(info, from, to, query);
      for (const { values } of rows.raw.values()) found += values.length;
      for await (const { offset, text } of recordsOf(bus, info, from, to)) {
        const position = `${info.topic}, partition ${info.partition}, offset ${offset}`;
        const here = rows.raw.get(offset)?.values ?? [];
        rows.raw.delete(offset);
        const record = envelopeOf(text);
        const step = record && record.n + (record.piece?.i ?? 0) / 65_536;
        if (record && step !== undefined && step <= (last.get(record.sid) ?? 0)) {
          if (here.length > 0) differences.add(`${position}: a repeated record has a row`);
          else differences.explain('repeated record of a session');
          expected += 1;
          continue;
        }
        expected += 1;
        if (!record) {
          if (rows.dead.has(offset)) differences.explain('dead letter');
          else differences.add(`${position}: unreadable, and not in dead_letters`);
          continue;
        }
        last.set(record.sid, step ?? 0);
        const wanted = `${record.sid} ${record.n} ${record.kind}`;
        if (here.length !== 1 || here[0] !== wanted) {
          differences.add(`${position}: expected ${wanted}, found ${here.join(' and ') || 'no row'}`);
        }
      }
      for (const offset of rows.raw.keys()) {
        differences.add(`${info.topic}, partition ${info.partition}, offset ${offset}: a row without a record`);
      }
    }
  }
  return differences.result(expected, found);
}

async function* recordsOf(bus: Bus, { topic, partition }: PartitionInfo, from: number, to: number) {
  for await (const { firstOffset, count, bytes, bounds } of bus.read(topic, partition, from, to - 1)) {
    for (let i = 0; i < count; i++) {
      yield { offset: firstOffset + i, text: bytes.toString('utf8', bounds[2 * i], bounds[2 * i + 1]) };
    }
  }
}

async function rowsOf({ topic, log, partition }: PartitionInfo, from: number, to: number, query: Query) {
  const where = `_topic = '${topic}' AND _log = '${log}' AND _partition = ${partition} AND _offset >= ${from} AND _offset < ${to}`;
  const raw = await query<{ offset: number; values: string[] }>(
    `SELECT _offset AS offset, groupArray(concat(session_id, ' ', toString(sequence), ' ', kind)) AS values
     FROM raw_records WHERE ${where} GROUP BY offset`,
  );
  const dead = await query<{ offset: number }>(`SELECT DISTINCT _offset AS offset FROM dead_letters WHERE ${where}`);
  return {
    raw: new Map(raw.map((row) => [row.offset, row])),
    dead: new Set(dead.map(({ offset }) => offset)),
  };
}

function envelopeOf(text: string): Envelope | undefined {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return undefined;
  }
}
