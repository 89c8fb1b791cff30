import type { Event } from '../../client/index.js';
import { float, lowCardinality, micros, nullable, text, texts } from './column-types.js';
import { type Listing, listingTable } from './listing.js';
import { column } from './row-table.js';

/** An event in one page of event search. */
export interface EventObservationRow extends Listing {
  readonly event: Event;
  /** Unix microseconds. */
  readonly createdAt: number | null;
  readonly closesAt: number | null;
}

export const eventObservations = listingTable<EventObservationRow>('event_observations', 'event', [
  column('event', lowCardinality, (row) => row.event.eventId),
  column('title', nullable(text), (row) => row.event.title),
  column('slug', nullable(text), (row) => row.event.slug),
  column('category', nullable(text), (row) => row.event.category),
  column('tags', texts, (row) => row.event.tags),
  column('created_at', nullable(micros), (row) => row.createdAt),
  column('closes_at', nullable(micros), (row) => row.closesAt),
  column('markets', texts, (row) => row.event.markets.map((market) => market.marketId)),
  column('volume_24h', nullable(float), (row) => row.event.volume24h),
  column('total_volume', nullable(float), (row) => row.event.totalVolume),
  column('liquidity', nullable(float), (row) => row.event.liquidity),
]);
