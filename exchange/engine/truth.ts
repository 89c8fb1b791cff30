import { marketOfAsset, outcomeOfAsset } from './assets.js';
import type { State } from './state.js';
import type { Truth } from './truth-types.js';
import { PAIR_MICROS, sharesFromHundredths, usdcFromMicros } from './units.js';

/** The ledger's totals, recomputed from the state on every call; nothing is accumulated. */
export function truthOf(state: State): Truth {
  return {
    accounts: state.accounts.map((account) => ({
      userId: account.userId,
      usdc: usdcFromMicros(account.free + account.locked),
      locked: usdcFromMicros(account.locked),
      positions: [...account.positions.values()].map(({ asset, shares, cost }) => ({
        assetId: state.marketAt(marketOfAsset(asset)).assetId(outcomeOfAsset(asset)),
        shares: sharesFromHundredths(shares),
        cost: usdcFromMicros(cost),
      })),
      realisedPnl: usdcFromMicros(account.realisedPnl),
      feesPaid: usdcFromMicros(account.feesPaid),
    })),
    markets: state.markets.map((market) => ({
      marketId: market.marketId,
      eventId: market.event.eventId,
      assets: { yes: market.yesAssetId, no: market.noAssetId },
      openingChance: market.openingChance,
      shares: { yes: sharesFromHundredths(market.yesShares), no: sharesFromHundredths(market.noShares) },
      volume: usdcFromMicros(market.volume.total),
      trades: market.trades,
      resolved: market.resolved?.winner ?? null,
    })),
    identity: identityOf(state),
  };
}

function identityOf(state: State): Truth['identity'] {
  const free = state.accounts.reduce((sum, account) => sum + account.free, 0);
  const locked = state.accounts.reduce((sum, account) => sum + account.locked, 0);
  const backing = state.markets.reduce((sum, market) => sum + market.yesShares * PAIR_MICROS, 0);
  const { deposits, withdrawals, fees } = state;
  const balanced = deposits - withdrawals === free + locked + backing + fees && sharesAreHeld(state);
  return {
    deposits: usdcFromMicros(deposits),
    withdrawals: usdcFromMicros(withdrawals),
    free: usdcFromMicros(free),
    locked: usdcFromMicros(locked),
    backing: usdcFromMicros(backing),
    fees: usdcFromMicros(fees),
    balanced,
  };
}

/** Whether every market has as many YES as NO shares and accounts hold exactly these. */
function sharesAreHeld(state: State): boolean {
  const held = new Map<number, number>();
  for (const account of state.accounts) {
    for (const { asset, shares } of account.positions.values()) held.set(asset, (held.get(asset) ?? 0) + shares);
  }
  return state.markets.every((market) => {
    const yes = held.get(market.number * 2) ?? 0;
    const no = held.get(market.number * 2 + 1) ?? 0;
    return market.yesShares === market.noShares && yes === market.yesShares && no === market.noShares;
  });
}
