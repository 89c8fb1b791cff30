import type { ReaderDatabase } from './database.js';
import { ofExistingTables } from './missing-tables.js';
import type { QueryPool } from './query-pool.js';

/** What the header of every page says. */
export interface RecordingState {
  /** Collectors whose last heartbeat is recent. */
  readonly liveCollectors: number;
  /** Age of the newest collector event or price, seconds; null when there is none. */
  readonly newestSeconds: number | null;
  /** Whether anything was ever recorded. */
  readonly hasRecords: boolean;
  /** Fraction of the last hour, over open events and streams, that is missing; null when no event was open. */
  readonly missing: number | null;
}

const KEPT_MS = 4000;
const QUERY = `SELECT
    (SELECT countIf(state = 'live') FROM sessions) AS live,
    (SELECT if(count() = 0, NULL, greatest(0, dateDiff('millisecond', max(recorded_at), now64(3))) / 1000)
     FROM collector_events WHERE recorded_at > now64(6) - INTERVAL 1 DAY) AS newest,
    (SELECT sum(missing_seconds * least(1, dateDiff('second', greatest(begins_at, now64(6) - INTERVAL 1 HOUR), ends_at) / greatest(seconds, 1e-6)))
     FROM gaps WHERE ends_at > now64(6) - INTERVAL 1 HOUR) AS missing,
    (SELECT sum(least(3600, open_seconds)) FROM coverage_by_event WHERE open) AS open_seconds,
    (SELECT count() > 0 FROM collector_events) AS has_records`;

/** Asked at most every few seconds, however many pages are open; `keptMs` is how long the answer is good for others. */
export async function recordingState(
  database: ReaderDatabase,
  pool: QueryPool,
  signal: AbortSignal,
  keptMs = KEPT_MS,
): Promise<RecordingState> {
  const { data } = await pool.run('recording state', keptMs, signal, (abort) =>
    ofExistingTables(database.query({ sql: QUERY, parameters: {} }, abort)),
  );
  const [live, newest, missing, openSeconds, hasRecords] = data[0] ?? [];
  return {
    liveCollectors: Number(live ?? 0),
    newestSeconds: newest === null || newest === undefined ? null : Number(newest),
    hasRecords: Boolean(Number(hasRecords ?? 0)),
    missing: Number(openSeconds ?? 0) === 0 ? null : Math.min(1, Number(missing ?? 0) / Number(openSeconds)),
  };
}
