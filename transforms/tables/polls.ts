import { type PollReceipt, TOPICS } from '../../core/index.js';
import { bool, lowCardinality, micros, nullable, oneOf, text, u32, u64 } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

export interface PollRow {
  readonly sessionId: string;
  /** Unix microseconds. */
  readonly finishedAt: number;
  readonly receipt: PollReceipt;
}

export const polls = rowLogTable<PollRow>({
  name: 'polls',
  onEveryShardFor: TOPICS.collectorEvents,
  feedsMaterializedViews: true,
  columns: [
    column('started_at', micros, (row) => row.receipt.startedAt),
    column('finished_at', micros, (row) => row.finishedAt),
    column('session_id', lowCardinality, (row) => row.sessionId),
    column('poll_id', text, (row) => row.receipt.pollId),
    column('operation', lowCardinality, (row) => row.receipt.operation),
    column('subject', text, (row) => row.receipt.subject),
    column('expected_items', nullable(u64), (row) => row.receipt.expectedItems),
    column('received_items', u64, (row) => row.receipt.receivedItems),
    column('distinct_items', u64, (row) => row.receipt.distinctItems),
    column('pages', u32, (row) => row.receipt.pages),
    column('truncated', bool, (row) => row.receipt.truncated),
    column('outcome', oneOf('complete', 'incomplete', 'failed'), (row) => row.receipt.outcome),
    column('cause', text, (row) => row.receipt.cause),
  ],
});
