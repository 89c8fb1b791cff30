import { decodeCategories } from '../../client/index.js';
import { categoryObservations } from '../tables/category-observations.js';
import { areValidIds } from './ids.js';
import { listingsOf } from './listings.js';
import type { Transform } from './transform.js';

/** The category tree (part 4.5) → `category_observations`. */
export const transformCategories: Transform = (received, output) => {
  const answer = decodeCategories(received.body);
  if (!answer.ok) {
    output.dead(answer, received.bodyText());
    return;
  }
  const listingOf = listingsOf(received.record);
  for (const [number, category] of answer.items.entries()) {
    if (!areValidIds({ i: category.categoryId, pi: category.parentId }, output)) continue;
    output.row(categoryObservations, { ...listingOf(number), category });
  }
  output.deadEntries(answer);
  output.countExtraFields(answer.extraFields.length);
};
