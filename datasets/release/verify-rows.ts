import type { FileServer } from '../file-server.js';
import { IN_ORDER, type OffsetRange, type Scan } from '../scan.js';
import { list, text } from '../sql-text.js';
import { ALL_TABLES } from '../tables.js';
import type { Damage } from './damage.js';
import type { Manifest, ManifestFile } from './manifest.js';
import { ROW_RULES } from './row-rules.js';

type Position = Manifest['positions'][number];

/** SQL conditions of the rows of a table that no export writes. */
export const damagedRows = (table: string): string[] => (ROW_RULES[table] ?? []).map(({ damaged }) => damaged);

/**
 * Rows with values that no export writes, or that are not among those that the manifest says were read.
 * @param files with the offsets that are in the files
 * @param scans of the files, by path, for the damaged rows of their tables
 */
export async function rowRuleDamages(
  server: FileServer,
  manifest: Manifest,
  files: readonly ManifestFile[],
  scans: ReadonlyMap<string, Scan>,
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const file of files) {
    const { path, table } = file;
    const isClean = scans.get(path)?.damaged === 0;
    const rules = [...(isClean ? [] : (ROW_RULES[table] ?? [])), ...positionRules(manifest, file)];
    if (rules.length === 0) continue;
    const firsts = rules.map(({ damaged }) => `toUInt64(minIf(row, ifNull(${damaged}, false)))`);
    const [found] = await server.source.rows<{ rows: number[] }>(
      `SELECT [${firsts.join(', ')}] AS rows FROM
       (SELECT rowNumberInAllBlocks() + 1 AS row, * FROM file(${text(`${server.folder}/${path}`)}, Parquet)) SETTINGS ${IN_ORDER}`,
      signal,
    );
    for (const [number, { column, what }] of rules.entries()) {
      const row = found?.rows[number] ?? 0;
      if (row > 0) damages.push({ path, column, row, what });
    }
  }
  return damages;
}

/** Rows of records that were not read, of a file that has some; a row that was replaced later may have a position behind them. */
function positionRules({ tables, positions }: Manifest, { table: name, offsets }: ManifestFile) {
  const isReplaced = ALL_TABLES.some((table) => table.name === name && table.final && !table.bounded);
  if (isReplaced || !tables.some((table) => table.name === name && table.positions)) return [];
  const isOf = (offset: OffsetRange) => (position: Position) =>
    position.log === offset.log && position.partition === offset.partition;
  const isRead = offsets.every(
    (offset) =>
      positions.some(({ log }) => log === offset.log) &&
      positions.filter(isOf(offset)).every(({ end }) => offset.last < end),
  );
  if (isRead) return [];
  const ends = positions.map(({ log, partition, end }) => `(${text(log)}, ${partition}, ${end})`).join(', ');
  const logs = list(positions.map(({ log }) => log));
  return [
    {
      column: '_log',
      damaged: positions.length === 0 ? 'true' : `_log NOT IN ${logs}`,
      what: 'is none of the manifest',
    },
    {
      column: '_offset',
      damaged:
        positions.length === 0
          ? 'false'
          : `arrayExists(end -> end.1 = _log AND end.2 = _partition AND end.3 <= _offset, [${ends}])`,
      what: 'is not below the offset up to which records were read',
    },
  ];
}

/** Collector events with the session and sequence of another one: a record that was appended twice has one row. */
export async function sequenceDamages(
  server: FileServer,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const { path } of files.filter(({ table }) => table === 'collector_events')) {
    const [found] = await server.source.rows<{ row: number }>(
      `SELECT toUInt64(min(repeated)) AS row FROM
       (
         SELECT max(row) AS repeated FROM
         (SELECT rowNumberInAllBlocks() + 1 AS row, session_id, sequence FROM file(${text(`${server.folder}/${path}`)}, Parquet))
         GROUP BY session_id, sequence HAVING count() > 1
       )
       SETTINGS ${IN_ORDER}`,
      signal,
    );
    if (!found || found.row === 0) continue;
    damages.push({ path, column: 'sequence', row: found.row, what: 'is that of another event of the session' });
  }
  return damages;
}
