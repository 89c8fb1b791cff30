import type { QueryResult, ReaderDatabase } from './database.js';
import { ofExistingTables } from './missing-tables.js';
import type { QueryPool } from './query-pool.js';

/** What the header of every page says. */
export interface RecordingState {
  /** Collectors whose last heartbeat is recent. */
  readonly liveCollectors: number;
  /** Age of the newest heartbeat of a collector, seconds; null when nothing was ever recorded. */
  readonly newestSeconds: number | null;
  /** Streams of events that are open now, and how many of them are observed. */
  readonly openStreams: number;
  readonly liveStreams: number;
  /** Fraction of the last hour, over all events and streams while they were open, that is missing; null when none was. */
  readonly missing: number | null;
}

const KEPT_MS = 4000;
/** While rows are new, what was missing in the last hour changes slowly; it takes ClickHouse ten times as long. */
const MISSING_KEPT_MS = 15_000;
const NEW_SECONDS = 5;
const STATE = `SELECT
    countIf(state = 'live') AS live,
    if(count() = 0, NULL, greatest(0, dateDiff('millisecond', max(last_heartbeat_at), now64(3))) / 1000) AS newest
FROM sessions`;
const MISSING = `WITH now64(6) - INTERVAL 1 HOUR AS begins
SELECT
    sum(arraySum(gap -> (dateDiff('microsecond', gap.1, gap.2) / 1e6 - gap.4) * least(1, dateDiff('microsecond', greatest(gap.1, begins), gap.2) / dateDiff('microsecond', gap.1, gap.2)),
        arrayFilter(gap -> gap.2 > begins, missed_ranges))) AS missing_seconds,
    sum(dateDiff('microsecond', greatest(open_from, begins), open_to) / 1e6) AS open_seconds,
    countIf(open) AS open_streams,
    countIf(open AND live) AS live_streams
FROM event_gaps
WHERE open_to > begins`;

/** Asked at most every few seconds, however many pages are open; `keptMs` is how long the answer is good for others. */
export async function recordingState(
  database: ReaderDatabase,
  pool: QueryPool,
  signal: AbortSignal,
  keptMs = KEPT_MS,
): Promise<RecordingState> {
  const ask = (sql: string, kept: (result: QueryResult) => number) =>
    // Does not wait for the panels of a large page.
    pool.run(sql, kept, signal, (abort) => ofExistingTables(database.query({ sql, parameters: {} }, abort)), 'first');
  const state = await ask(STATE, () => keptMs);
  const [live, newest] = state.data[0] ?? [];
  const isSlow = newest !== null && newest !== undefined && Number(newest) < NEW_SECONDS;
  const lastHour = await ask(MISSING, ({ data: [row] }) =>
    Number(row?.[1] ?? 0) > 0 && Number(row?.[3] ?? 0) > 0 && isSlow ? MISSING_KEPT_MS : keptMs,
  );
  const [missing, openSeconds, openStreams, liveStreams] = lastHour.data[0] ?? [];
  return {
    liveCollectors: Number(live ?? 0),
    newestSeconds: newest === null || newest === undefined ? null : Number(newest),
    openStreams: Number(openStreams ?? 0),
    liveStreams: Number(liveStreams ?? 0),
    missing: Number(openSeconds ?? 0) === 0 ? null : Math.min(1, Number(missing ?? 0) / Number(openSeconds)),
  };
}
