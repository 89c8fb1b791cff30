import { decodeTags } from '../../client/index.js';
import { tagObservations } from '../tables/tag-observations.js';
import { isValidId } from './ids.js';
import { listingsOf } from './listings.js';
import { integerOrDead } from './optional-fields.js';
import type { Transform } from './transform.js';

/** The popular tags (part 4.5) → `tag_observations`. */
export const transformTags: Transform = (received, output) => {
  const answer = decodeTags(received.body);
  if (!answer.ok) {
    output.dead(answer, received.bodyText());
    return;
  }
  const listingOf = listingsOf(received.record);
  for (const [number, { name, popularityRank }] of answer.items.entries()) {
    if (!isValidId(name, 'n', output)) continue;
    const tag = { name, popularityRank: integerOrDead(popularityRank, `tag ${name} r`, output) };
    output.row(tagObservations, { ...listingOf(number), tag });
  }
  output.deadEntries(answer);
  output.countExtraFields(answer.extraFields.length);
};
