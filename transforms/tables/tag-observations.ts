import type { Tag } from '../../client/index.js';
import { TOPICS } from '../../core/index.js';
import { i64, lowCardinality, micros, nullable, text } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** A tag in one response of the popular tags. */
export interface TagObservationRow {
  /** Unix microseconds. */
  readonly receivedAt: number;
  readonly poll: string;
  readonly tag: Tag;
}

export const tagObservations = rowLogTable<TagObservationRow>({
  name: 'tag_observations',
  onEveryShardFor: TOPICS.reference,
  feedsMaterializedViews: true,
  columns: [
    column('received_at', micros, (row) => row.receivedAt),
    column('poll_id', text, (row) => row.poll),
    column('tag', lowCardinality, (row) => row.tag.name),
    column('popularity_rank', nullable(i64), (row) => row.tag.popularityRank),
  ],
});
