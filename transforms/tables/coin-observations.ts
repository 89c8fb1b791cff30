import type { Coin } from '../../client/index.js';
import { bool, float, i64, lowCardinality, micros, nullable, text } from './column-types.js';
import { type Listing, listingTable } from './listing.js';
import { column } from './row-table.js';

/** A coin in one response of the coins list. */
export interface CoinObservationRow extends Listing {
  readonly coin: Coin;
  /** Unix microseconds. */
  readonly usdRateAt: number | null;
}

export const coinObservations = listingTable<CoinObservationRow>('coin_observations', 'coin', [
  column('coin', lowCardinality, (row) => row.coin.coinId),
  column('name', nullable(text), (row) => row.coin.name),
  column('ticker', nullable(text), (row) => row.coin.ticker),
  column('usd_rate', nullable(float), (row) => row.coin.usdRate),
  column('usd_rate_at', nullable(micros), (row) => row.usdRateAt),
  column('full_decimals', nullable(i64), (row) => row.coin.fullDecimals),
  column('display_decimals', nullable(i64), (row) => row.coin.displayDecimals),
  column('status', nullable(text), (row) => row.coin.status),
  column('icon_url', nullable(text), (row) => row.coin.iconUrl),
  column('system_coin', nullable(bool), (row) => row.coin.systemCoin),
  column('collateral', nullable(bool), (row) => row.coin.collateral),
]);
