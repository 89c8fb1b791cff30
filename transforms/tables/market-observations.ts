import type { Market } from '../../client/index.js';
import { TOPICS } from '../../core/index.js';
import { float, lowCardinality, micros, nullable, text } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** A market of an event in event search. */
export interface MarketObservationRow {
  /** Unix microseconds. */
  readonly receivedAt: number;
  readonly poll: string;
  readonly eventId: string;
  readonly market: Market;
}

export const marketObservations = rowLogTable<MarketObservationRow>({
  name: 'market_observations',
  onEveryShardFor: TOPICS.reference,
  feedsMaterializedViews: true,
  columns: [
    column('received_at', micros, (row) => row.receivedAt),
    column('poll_id', text, (row) => row.poll),
    column('event', lowCardinality, (row) => row.eventId),
    column('market', lowCardinality, (row) => row.market.marketId),
    column('name', nullable(text), (row) => row.market.name),
    column('yes_asset', nullable(text), (row) => row.market.yesAssetId),
    column('no_asset', nullable(text), (row) => row.market.noAssetId),
    column('yes_price', nullable(float), (row) => row.market.yesPrice),
    column('no_price', nullable(float), (row) => row.market.noPrice),
  ],
});
