import { ENDS_OBSERVED_RANGE } from '../../core/index.js';
import { COVERED_STREAM_TABLES, STREAM_OF_TABLE } from '../coverage.js';
import type { FileServer } from '../file-server.js';
import { list, text } from '../sql-text.js';
import type { Damage } from './damage.js';
import { type Manifest, type ManifestFile, mayHaveLosses } from './manifest.js';

/** A subscription is found stale within this time, so its last seconds may be missing. */
const STALE_SECONDS = 60;

/**
 * Ranges of `coverage` that are not called observed, although collector events say that a subscription of the event was
 * current: from its start to the next event about it, to the loss of its connection, or to the last frame of that which a
 * heartbeat names, less a minute. Of finished days, in a release without lost records.
 */
export async function observedDamages(
  server: FileServer,
  manifest: Manifest,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Damage[]> {
  const isOf = (table: string) => files.filter((file) => file.table === table);
  const events = isOf('collector_events');
  if (events.length === 0 || mayHaveLosses(manifest)) return [];
  const from = `(SELECT * FROM file(${text(`${server.folder}/collector_events/*.parquet`)}, Parquet) WHERE _file IN ${list(
    events.map(({ day }) => `${day}.parquet`),
  )})`;
  const damages: Damage[] = [];
  for (const { path } of isOf('coverage').filter(({ unfinished }) => !unfinished)) {
    const [found] = await server.source.rows<{ row: number }>(
      `SELECT toUInt64(min(row)) AS row FROM
       (
         SELECT row, event, ${STREAM_OF_TABLE} AS stream, begins_at, ends_at
         FROM (SELECT rowNumberInAllBlocks() + 1 AS row, * FROM file(${text(`${server.folder}/${path}`)}, Parquet))
         WHERE state != 'observed' AND table IN ${list(COVERED_STREAM_TABLES)}
       ) AS ranges
       INNER JOIN (SELECT event, stream, groupArray((subscribed_at, current_to)) AS subscriptions FROM (${current(from)}) GROUP BY event, stream) AS known USING (event, stream)
       WHERE arrayExists(one -> begins_at < one.2 AND ends_at > one.1 + INTERVAL 2 MILLISECOND, subscriptions)
       SETTINGS max_threads = 1, input_format_parquet_preserve_order = 1, optimize_move_to_prewhere = 0, query_plan_filter_push_down = 0`,
      signal,
    );
    if (!found || found.row === 0) continue;
    const what = 'is not called observed, but in collector_events a subscription of the event was current then';
    damages.push({ path, column: 'state', row: found.row, what });
  }
  return damages;
}

/** Subscriptions, and until when each was current at least. */
const current = (events: string): string => `
  SELECT event, stream, subscribed_at,
    least(
      next_at,
      if(lost_at = toDateTime64(0, 6, 'UTC'), fromUnixTimestamp64Micro(toInt64(last_frames[connection_id]), 'UTC'), lost_at),
      last_heartbeat_at
    ) - INTERVAL ${STALE_SECONDS} SECOND AS current_to
  FROM
  (
    SELECT event, stream, session_id, connection_id, type, recorded_at AS subscribed_at,
      leadInFrame(ifNull(last_verified_at, recorded_at), 1, toDateTime64('2200-01-01 00:00:00', 6, 'UTC'))
        OVER (PARTITION BY session_id, stream, event ORDER BY sequence ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS next_at
    FROM ${events} WHERE type IN ${list(['subscribed', ...ENDS_OBSERVED_RANGE])}
  ) AS subscriptions
  INNER JOIN
  (
    SELECT session_id, max(recorded_at) AS last_heartbeat_at, argMax(last_frames, sequence) AS last_frames
    FROM ${events} WHERE type = 'heartbeat' GROUP BY session_id
  ) AS heartbeats USING (session_id)
  LEFT JOIN
  (
    SELECT session_id, connection_id, min(recorded_at) AS lost_at FROM ${events} WHERE type = 'disconnected' GROUP BY session_id, connection_id
  ) AS losses USING (session_id, connection_id)
  WHERE type = 'subscribed'`;
