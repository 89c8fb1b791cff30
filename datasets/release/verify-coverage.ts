import { ENDS_OBSERVED_RANGE } from '../../core/index.js';
import type { FileServer } from '../file-server.js';
import { list, text } from '../sql-text.js';
import type { Damage } from './damage.js';
import type { ManifestFile } from './manifest.js';

const SETTINGS = 'SETTINGS max_threads = 1, input_format_parquet_preserve_order = 1';

/** A column, a query of the first row in which it is wrong (0: none), and what is wrong. */
type Check = readonly [column: string, query: string, what: string];

/** Ranges of `coverage` that overlap or leave a period out, or that collector events contradict. */
export async function coverageDamages(
  server: FileServer,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const { path, day, unfinished } of files.filter(({ table }) => table === 'coverage')) {
    const rows = (file: string) =>
      `(SELECT rowNumberInAllBlocks() + 1 AS row, * FROM file(${text(`${server.folder}/${file}`)}, Parquet))`;
    // A range may also begin behind lost records. Of an unfinished day, it may be newer than the exported events.
    const isOther = unfinished || files.some((file) => file.table === 'lost_ranges');
    const events = isOther ? undefined : files.find((file) => file.table === 'collector_events' && file.day === day);
    const checks = [
      ...rangeChecks(rows(path)),
      ...(events ? eventChecks(rows(path), rows(events.path), events.path) : []),
    ];
    for (const [column, query, what] of checks) {
      const [found] = await server.source.rows<{ row: number }>(`${query} ${SETTINGS}`, signal);
      if (found && found.row > 0) damages.push({ path, column, row: found.row, what });
    }
  }
  return damages;
}

/** The ranges of each market: its own, and those of all markets of the event. */
function rangeChecks(coverage: string): Check[] {
  const ofMarket = `
    SELECT row, begins_at, previous FROM
    (
      SELECT row, begins_at, lagInFrame(toNullable(ends_at)) OVER (PARTITION BY table, event, own ORDER BY begins_at, ends_at) AS previous
      FROM
      (
        SELECT * FROM ${coverage} AS ranges
        INNER JOIN
        (
          SELECT table, event, if(max(market) = '', [''], arrayFilter(name -> name != '', groupUniqArray(market))) AS markets
          FROM ${coverage} GROUP BY table, event
        ) AS known USING (table, event)
      )
      ARRAY JOIN if(market = '', markets, [market]) AS own
    )`;
  return [
    [
      'begins_at',
      `SELECT toUInt64(min(row)) AS row FROM (${ofMarket}) WHERE begins_at < previous`,
      'is before the end of the previous range of the same market',
    ],
    [
      'begins_at',
      `SELECT toUInt64(min(row)) AS row FROM (${ofMarket}) WHERE begins_at > previous`,
      'is behind the end of the previous range: a period between them has none',
    ],
  ];
}

/** Observed ranges that no subscription began, or that are longer than the only one. */
function eventChecks(coverage: string, events: string, path: string): Check[] {
  const observed = `
    SELECT row, event, begins_at, ends_at, if(table = 'price_ticks', 'order-book', 'chance') AS stream
    FROM ${coverage} WHERE state = 'observed'`;
  // Another collector, or another connection, may observe the event longer.
  const isOnly = `(SELECT uniqExact(session_id) FROM ${events}) = 1`;
  const beyond = (ends: string) => `
    SELECT toUInt64(min(row)) AS row FROM (${observed}) AS ranges
    INNER JOIN (SELECT event, stream, groupArray(at) AS all_ends FROM (${ends}) GROUP BY event, stream) AS known USING (event, stream)
    WHERE arrayExists(at -> begins_at + INTERVAL 1 MILLISECOND < at AND at < ends_at, all_ends)`;
  return [
    [
      'begins_at',
      `SELECT toUInt64(min(row)) AS row FROM (${observed}) WHERE begins_at != toStartOfDay(begins_at)
       AND (event, stream, toUnixTimestamp64Micro(begins_at)) NOT IN
         (SELECT event, stream, intDiv(toUnixTimestamp64Micro(recorded_at), 1000) * 1000 FROM ${events} WHERE type = 'subscribed')`,
      `is observed, but in ${path} no subscription of the event begins then`,
    ],
    [
      'ends_at',
      beyond(`
        SELECT event, stream, recorded_at AS at
        FROM (SELECT event, stream, any(connection_id) AS own_connection FROM ${events} WHERE type = 'subscribed' GROUP BY event, stream HAVING uniqExact(connection_id) = 1) AS subscribed
        INNER JOIN (SELECT connection_id AS own_connection, recorded_at FROM ${events} WHERE type = 'disconnected') AS lost USING (own_connection)
        WHERE ${isOnly}`),
      `is behind the end of the connection in ${path}`,
    ],
    [
      'ends_at',
      beyond(`
        SELECT event, stream, ifNull(last_verified_at, recorded_at) AS at
        FROM ${events} WHERE type IN ${list(ENDS_OBSERVED_RANGE)} AND ${isOnly}`),
      `is behind the end of the subscription in ${path}`,
    ],
  ];
}
