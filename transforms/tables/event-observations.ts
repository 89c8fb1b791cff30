import type { Event } from '../../client/index.js';
import { TOPICS } from '../../core/index.js';
import { float, lowCardinality, micros, nullable, text, texts } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** An event in one page of event search. */
export interface EventObservationRow {
  /** Unix microseconds. */
  readonly receivedAt: number;
  /** UUID of the poll. */
  readonly poll: string;
  readonly event: Event;
  /** Unix microseconds. */
  readonly createdAt: number | null;
  readonly closesAt: number | null;
}

export const eventObservations = rowLogTable<EventObservationRow>({
  name: 'event_observations',
  onEveryShardFor: TOPICS.reference,
  feedsMaterializedViews: true,
  columns: [
    column('received_at', micros, (row) => row.receivedAt),
    column('poll_id', text, (row) => row.poll),
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
  ],
});
