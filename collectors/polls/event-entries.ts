import { decodeEventPage } from '../../client/index.js';
import type { ListedEntry } from './published-entries.js';

/** The entries of a page of event search: each event, followed by its markets. */
export function eventEntries(body: unknown): readonly ListedEntry[] {
  const page = decodeEventPage(body);
  if (!page.ok) return [];
  return page.items.flatMap(({ markets, ...event }) => [
    { key: `event ${event.eventId}`, content: { ...event, markets: markets.map(({ marketId }) => marketId) } },
    ...markets.map((market) => ({ key: `market ${market.marketId}`, content: { eventId: event.eventId, ...market } })),
  ]);
}
