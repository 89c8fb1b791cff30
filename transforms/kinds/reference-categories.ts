import { decodeCategories } from '../../client/index.js';
import { categoryObservations } from '../tables/category-observations.js';
import { areValidIds } from './ids.js';
import { textIn } from './request-fields.js';
import type { Transform } from './transform.js';

/** The category tree (part 4.5) → `category_observations`. */
export const transformCategories: Transform = (received, output) => {
  const answer = decodeCategories(received.body);
  if (!answer.ok) {
    output.dead(answer, received.bodyText());
    return;
  }
  const receivedAt = received.record.receivedAt;
  const poll = textIn(received.record.request, 'poll') ?? '';
  for (const category of answer.items) {
    if (!areValidIds({ i: category.categoryId, pi: category.parentId }, output)) continue;
    output.row(categoryObservations, { receivedAt, poll, category });
  }
  output.deadEntries(answer);
  output.countExtraFields(answer.extraFields.length);
};
