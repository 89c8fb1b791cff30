import { TOPICS } from '../../core/index.js';
import { bool, lowCardinality, micros, nullable, oneOf, text, u32, u64 } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** The receipt of a poll: what was asked and whether the answer was whole. */
export interface PollRow {
  /** Unix microseconds. */
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly sid: string;
  readonly poll: string;
  readonly operation: string;
  readonly subject: string;
  readonly expected: number | null;
  readonly got: number;
  readonly unique: number;
  readonly pages: number;
  readonly truncated: boolean;
  readonly outcome: 'complete' | 'incomplete' | 'failed';
  readonly cause: string;
}

export const polls = rowLogTable<PollRow>({
  name: 'polls',
  onEveryShardFor: TOPICS.marks,
  columns: [
    column('started_at', micros, (row) => row.startedAt),
    column('finished_at', micros, (row) => row.finishedAt),
    column('sid', lowCardinality, (row) => row.sid),
    column('poll', text, (row) => row.poll),
    column('operation', lowCardinality, (row) => row.operation),
    column('subject', text, (row) => row.subject),
    column('expected', nullable(u64), (row) => row.expected),
    column('got', u64, (row) => row.got),
    column('unique', u64, (row) => row.unique),
    column('pages', u32, (row) => row.pages),
    column('truncated', bool, (row) => row.truncated),
    column('outcome', oneOf('complete', 'incomplete', 'failed'), (row) => row.outcome),
    column('cause', text, (row) => row.cause),
  ],
});
