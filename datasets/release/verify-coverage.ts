import { ENDS_OBSERVED_RANGE } from '../../core/index.js';
import { COVERED_STREAM_TABLES, STREAM_OF_TABLE } from '../coverage.js';
import type { FileServer } from '../file-server.js';
import { shiftedDay } from '../finished.js';
import { NO_COMPLETE_POLL, POLLED_TABLES, type PolledTables } from '../polled-coverage.js';
import { list, text } from '../sql-text.js';
import type { Damage } from './damage.js';
import { type Manifest, type ManifestFile, mayHaveLosses } from './manifest.js';

/** Rows are numbered before any is left out. */
const SETTINGS =
  'SETTINGS max_threads = 1, input_format_parquet_preserve_order = 1, optimize_move_to_prewhere = 0, query_plan_filter_push_down = 0';

/** A column, a query of the first row in which it is wrong (0: none), and what is wrong. */
type Check = readonly [column: string, query: string, what: string];

/** Ranges of `coverage` that overlap or leave a period out, or that collector events contradict. */
export async function coverageDamages(
  server: FileServer,
  manifest: Manifest,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const { path, day, unfinished } of files.filter(({ table }) => table === 'coverage')) {
    const rows = (file: string) =>
      `(SELECT rowNumberInAllBlocks() + 1 AS row, * FROM file(${text(`${server.folder}/${file}`)}, Parquet))`;
    // A range may also begin behind lost records. Of an unfinished day, it may be newer than the exported events.
    const isOther = unfinished || mayHaveLosses(manifest);
    const events = isOther ? undefined : files.find((file) => file.table === 'collector_events' && file.day === day);
    const checks = [
      ...rangeChecks(rows(path)),
      ...(events ? eventChecks(rows(path), rows(events.path), events.path) : []),
      ...(isOther ? [] : POLLED_TABLES.flatMap((polled) => pollChecks(server, files, rows(path), { ...polled, day }))),
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
    SELECT row, event, begins_at, ends_at, ${STREAM_OF_TABLE} AS stream
    FROM ${coverage} WHERE state = 'observed' AND table IN ${list(COVERED_STREAM_TABLES)}`;
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

/**
 * Ranges of polled tables that are observed without complete polls, or not although there are some. The release may lack the
 * polls of the day before or after.
 */
function pollChecks(
  server: FileServer,
  files: readonly ManifestFile[],
  coverage: string,
  { operation, tables, ranges: rangesOf, reachSeconds, day }: PolledTables & { readonly day: string },
): Check[] {
  const days = files.filter(({ table }) => table === 'polls').map((file) => file.day);
  if (days.length === 0) return [];
  const [before, after] = [shiftedDay(day, -1), shiftedDay(day, 1)];
  const near = list([before, day, after].map((name) => `${name}.parquet`));
  const polls = `(SELECT * FROM file(${text(`${server.folder}/polls/*.parquet`)}, Parquet) WHERE _file IN ${near} AND operation = ${text(operation)})`;
  const ranges = `(SELECT groupArray((range_begins, range_ends)) FROM (${rangesOf(polls)}) WHERE range_begins < range_ends)`;
  const midnight = (on: string) => `toDateTime64(${text(`${on} 00:00:00`)}, 6, 'UTC')`;
  const isBefore = `begins_at = ${midnight(day)} AND ${!days.includes(before)}`;
  const isAfter = `ends_at = ${midnight(after)} AND ${!days.includes(after)}`;
  const edge = (found: string) => `(SELECT ${found} FROM (${rangesOf(polls)}))`;
  const ofTables = `table IN ${list(tables)}`;
  const observed = `
    SELECT row,
      if(${isBefore}, greatest(begins_at, least(${edge('min(range_begins)')}, ends_at, begins_at + INTERVAL ${reachSeconds} SECOND)), begins_at) AS known_from,
      if(${isAfter}, least(ends_at, greatest(${edge('max(range_ends)')}, begins_at, ends_at - INTERVAL ${reachSeconds} SECOND)), ends_at) AS known_to
    FROM ${coverage} WHERE ${ofTables} AND state = 'observed'`;
  return [
    [
      'state',
      `SELECT toUInt64(min(row)) AS row FROM (${observed}) WHERE known_from < known_to
       AND NOT arrayExists(range -> range.1 <= known_from AND known_to <= range.2, ${ranges})`,
      'is observed, but no complete polls cover the range',
    ],
    [
      'state',
      `SELECT toUInt64(min(row)) AS row FROM ${coverage} WHERE ${ofTables} AND cause = ${text(NO_COMPLETE_POLL)}
       AND arrayExists(range -> range.1 < ends_at AND begins_at < range.2, ${ranges})`,
      'is unknown, but complete polls cover a part of the range',
    ],
  ];
}
