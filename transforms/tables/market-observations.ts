import type { Market } from '../../client/index.js';
import { float, lowCardinality, nullable, text } from './column-types.js';
import { type Listing, listingTable } from './listing.js';
import { column } from './row-table.js';

/** A market of an event in event search. */
export interface MarketObservationRow extends Listing {
  readonly eventId: string;
  readonly market: Market;
}

export const marketObservations = listingTable<MarketObservationRow>('market_observations', 'market', [
  column('event', lowCardinality, (row) => row.eventId),
  column('market', lowCardinality, (row) => row.market.marketId),
  column('name', nullable(text), (row) => row.market.name),
  column('yes_asset', nullable(text), (row) => row.market.yesAssetId),
  column('no_asset', nullable(text), (row) => row.market.noAssetId),
  column('yes_price', nullable(float), (row) => row.market.yesPrice),
  column('no_price', nullable(float), (row) => row.market.noPrice),
]);
