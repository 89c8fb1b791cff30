import type { Category } from '../../client/index.js';
import { lowCardinality, nullable, text, u16 } from './column-types.js';
import { type Listing, listingTable } from './listing.js';
import { column } from './row-table.js';

/** A category in one response of the category tree. */
export interface CategoryObservationRow extends Listing {
  readonly category: Category;
}

export const categoryObservations = listingTable<CategoryObservationRow>('category_observations', 'category', [
  column('category', lowCardinality, (row) => row.category.categoryId),
  column('name', nullable(text), (row) => row.category.name),
  column('slug', nullable(text), (row) => row.category.slug),
  column('parent', nullable(text), (row) => row.category.parentId),
  column('depth', u16, (row) => Math.min(row.category.depth, 65_535)),
]);
