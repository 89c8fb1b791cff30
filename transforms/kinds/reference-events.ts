import { decodeEventPage } from '../../client/index.js';
import { eventObservations } from '../tables/event-observations.js';
import { marketObservations } from '../tables/market-observations.js';
import { areValidIds, isValidId } from './ids.js';
import { listingsOf } from './listings.js';
import { timeOrDead } from './optional-fields.js';
import type { Transform } from './transform.js';

/** A page of event search (part 4.5) → `event_observations` and `market_observations`. */
export const transformEventPage: Transform = (received, output) => {
  const page = decodeEventPage(received.body);
  if (!page.ok) {
    output.dead(page, received.bodyText());
    return;
  }
  const listingOf = listingsOf(received.record);
  let entries = 0;
  for (const event of page.items) {
    const number = entries;
    entries += 1 + event.markets.length;
    if (!isValidId(event.eventId, 'id', output)) continue;
    const createdAt = timeOrDead(event.createdAt, `event ${event.eventId} createdAt`, output);
    const closesAt = timeOrDead(event.closesAt, `event ${event.eventId} closesAt`, output);
    output.row(eventObservations, { ...listingOf(number), event, createdAt, closesAt });
    for (const [index, market] of event.markets.entries()) {
      const { marketId, yesAssetId: yesId, noAssetId: noId } = market;
      if (!areValidIds({ marketId, yesId, noId }, output)) continue;
      output.row(marketObservations, { ...listingOf(number + 1 + index), eventId: event.eventId, market });
    }
  }
  output.deadEntries(page);
  output.countExtraFields(page.extraFields.length);
};
