import type { ShardConnection } from '../../warehouse/index.js';
import { type LastRecord, SessionProgress } from '../batch/session-progress.js';
import type { SourcePartition } from '../tables/row-table.js';

/**
 * The progress of every session on a partition before offset `before`, from `raw_records`. Rows from `before` on are
 * excluded: they belong to a batch that is being written, whose records are not duplicates.
 * @param shards the shards that may have rows of the partition
 */
export async function loadProgress(
  shards: readonly ShardConnection[],
  source: SourcePartition,
  before: number,
  signal: AbortSignal,
): Promise<SessionProgress> {
  const last = new Map<string, LastRecord>();
  for (const shard of shards) {
    const rows = await shard.query<LastRecord & { readonly session_id: string }>(
      `SELECT session_id, last.1 AS sequence, last.2 AS piece FROM (
         SELECT toString(session_id) AS session_id, max((sequence, piece)) AS last
         FROM ${shard.database}.raw_records
         WHERE _topic = {topic:String} AND _log = {log:String} AND _partition = {partition:UInt32}
           AND _offset < {before:UInt64}
         GROUP BY session_id
       )`,
      { ...source, before },
      signal,
      { upToDate: ['raw_records'] },
    );
    for (const { session_id: sessionId, sequence, piece } of rows) {
      const known = last.get(sessionId);
      if (!known || known.sequence < sequence || (known.sequence === sequence && known.piece < piece))
        last.set(sessionId, { sequence, piece });
    }
  }
  return new SessionProgress(last);
}
