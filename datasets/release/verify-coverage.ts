import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Damage } from './damage.js';
import type { ManifestFile } from './manifest.js';

/** Ranges of `coverage` that overlap, have no length or another state, or that collector events contradict. */
export async function coverageDamages(
  server: FileServer,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  const settings = 'SETTINGS max_threads = 1, input_format_parquet_preserve_order = 1';
  for (const { path, day } of files.filter(({ table }) => table === 'coverage')) {
    const numbered = `SELECT rowNumberInAllBlocks() + 1 AS row, * FROM file(${text(`${server.folder}/${path}`)}, Parquet)`;
    const faults = [
      [
        'state',
        `SELECT toUInt64(min(row)) AS row FROM (${numbered}) WHERE state NOT IN ('observed', 'backfilled', 'missing', 'unknown')`,
        'is none of observed, backfilled, missing, unknown',
      ],
      [
        'ends_at',
        `SELECT toUInt64(min(row)) AS row FROM (${numbered}) WHERE ends_at <= begins_at`,
        'is not behind begins_at',
      ],
      [
        'begins_at',
        `SELECT toUInt64(min(row)) AS row FROM
         (SELECT row, begins_at, lagInFrame(ends_at) OVER (PARTITION BY table, event, market ORDER BY begins_at) AS previous FROM (${numbered}))
         WHERE begins_at < previous`,
        'is before the end of the previous range of the same market',
      ],
    ] as const;
    for (const [column, query, what] of faults) {
      const [found] = await server.source.rows<{ row: number }>(`${query} ${settings}`, signal);
      if (found && found.row > 0) damages.push({ path, column, row: found.row, what });
    }
    const events = files.find((file) => file.table === 'collector_events' && file.day === day);
    if (events) damages.push(...(await contradicted(server, path, events.path, signal)));
  }
  return damages;
}

/** Observed ranges that begin within the day although no collector had subscribed the event then. */
async function contradicted(server: FileServer, path: string, events: string, signal: AbortSignal): Promise<Damage[]> {
  const from = (file: string) => `file(${text(`${server.folder}/${file}`)}, Parquet)`;
  const [found] = await server.source.rows<{ row: number }>(
    `SELECT toUInt64(min(row)) AS row FROM (SELECT rowNumberInAllBlocks() + 1 AS row, * FROM ${from(path)})
     WHERE state = 'observed' AND begins_at != toStartOfDay(begins_at)
       AND (event, if(table = 'price_ticks', 'order-book', 'chance')) NOT IN
         (SELECT event, stream FROM ${from(events)} WHERE type = 'subscribed')
     SETTINGS max_threads = 1, input_format_parquet_preserve_order = 1`,
    signal,
  );
  if (!found || found.row === 0) return [];
  return [
    { path, column: 'state', row: found.row, what: `is observed, but ${events} has no subscription of the event` },
  ];
}
