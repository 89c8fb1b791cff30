import { decodeEventPage } from '../../client/index.js';
import { eventObservations } from '../tables/event-observations.js';
import { marketObservations } from '../tables/market-observations.js';
import { areValidIds, isValidId } from './ids.js';
import { timeOrDead } from './optional-fields.js';
import { textIn } from './request-fields.js';
import type { Transform } from './transform.js';

/** A page of event search (part 4.5) → `event_observations` and `market_observations`. */
export const transformEventPage: Transform = (received, output) => {
  const page = decodeEventPage(received.body);
  if (!page.ok) {
    output.dead(page, received.bodyText());
    return;
  }
  const receivedAt = received.record.receivedAt;
  const poll = textIn(received.record.request, 'poll') ?? '';
  for (const event of page.items) {
    if (!isValidId(event.eventId, 'id', output)) continue;
    const createdAt = timeOrDead(event.createdAt, `event ${event.eventId} createdAt`, output);
    const closesAt = timeOrDead(event.closesAt, `event ${event.eventId} closesAt`, output);
    output.row(eventObservations, { receivedAt, poll, event, createdAt, closesAt });
    for (const market of event.markets) {
      const { marketId, yesAssetId: yesId, noAssetId: noId } = market;
      if (!areValidIds({ marketId, yesId, noId }, output)) continue;
      output.row(marketObservations, { receivedAt, poll, eventId: event.eventId, market });
    }
  }
  output.deadEntries(page);
  output.countExtraFields(page.extraFields.length);
};
