import type { Category } from '../../client/index.js';
import { TOPICS } from '../../core/index.js';
import { lowCardinality, micros, nullable, text, u16 } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** A category in one response of the category tree. */
export interface CategoryObservationRow {
  /** Unix microseconds. */
  readonly receivedAt: number;
  readonly poll: string;
  readonly category: Category;
}

export const categoryObservations = rowLogTable<CategoryObservationRow>({
  name: 'category_observations',
  onEveryShardFor: TOPICS.reference,
  feedsMaterializedViews: true,
  columns: [
    column('received_at', micros, (row) => row.receivedAt),
    column('poll_id', text, (row) => row.poll),
    column('category', lowCardinality, (row) => row.category.categoryId),
    column('name', nullable(text), (row) => row.category.name),
    column('slug', nullable(text), (row) => row.category.slug),
    column('parent', nullable(text), (row) => row.category.parentId),
    column('depth', u16, (row) => Math.min(row.category.depth, 65_535)),
  ],
});
