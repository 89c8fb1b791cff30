import { TOPICS } from '../../core/index.js';
import { counts, lowCardinality, micros, nullable, text, texts, u64 } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** A mark: what a collector said about its own sight. Fields that a type of mark does not have are empty or null. */
export interface MarkRow {
  /** The time that the mark speaks of, Unix microseconds. */
  readonly markedAt: number;
  readonly sid: string;
  readonly n: number;
  readonly type: string;
  readonly stream: string;
  readonly connection: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly marketIds: readonly string[];
  /** Unix microseconds: last proof of life of a frozen subscription. */
  readonly since: number | null;
  /** Unix microseconds: the range that a repair covers. */
  readonly from: number | null;
  readonly to: number | null;
  readonly poll: string;
  /** Last acknowledged `n` by topic. */
  readonly acked: Readonly<Record<string, number>>;
  readonly collector: string;
  readonly version: string;
  readonly shard: string;
  readonly url: string;
  readonly cause: string;
}

export const marks = rowLogTable<MarkRow>({
  name: 'marks',
  onEveryShardFor: TOPICS.marks,
  feedsMaterializedViews: true,
  columns: [
    column('marked_at', micros, (row) => row.markedAt),
    column('sid', lowCardinality, (row) => row.sid),
    column('n', u64, (row) => row.n),
    column('type', lowCardinality, (row) => row.type),
    column('stream', lowCardinality, (row) => row.stream),
    column('connection', lowCardinality, (row) => row.connection),
    column('event', lowCardinality, (row) => row.eventId),
    column('market', lowCardinality, (row) => row.marketId),
    column('markets', texts, (row) => row.marketIds),
    column('since', nullable(micros), (row) => row.since),
    column('range_from', nullable(micros), (row) => row.from),
    column('range_to', nullable(micros), (row) => row.to),
    column('poll', text, (row) => row.poll),
    column('acked', counts, (row) => row.acked),
    column('collector', lowCardinality, (row) => row.collector),
    column('version', lowCardinality, (row) => row.version),
    column('shard', lowCardinality, (row) => row.shard),
    column('url', lowCardinality, (row) => row.url),
    column('cause', text, (row) => row.cause),
  ],
});
