import type { Tag } from '../../client/index.js';
import { i64, lowCardinality, nullable } from './column-types.js';
import { type Listing, listingTable } from './listing.js';
import { column } from './row-table.js';

/** A tag in one response of the popular tags. */
export interface TagObservationRow extends Listing {
  readonly tag: Tag;
}

export const tagObservations = listingTable<TagObservationRow>('tag_observations', 'tag', [
  column('tag', lowCardinality, (row) => row.tag.name),
  column('popularity_rank', nullable(i64), (row) => row.tag.popularityRank),
]);
