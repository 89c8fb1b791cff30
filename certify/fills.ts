import type { LedgerFill } from './truth.js';

/** One side of a fill. */
export interface FillSide {
  readonly userId: string;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  /** Of the asset that this side traded, cents. */
  readonly cents: number;
}

/**
 * Both sides of a fill, by the definition of the control call: if a pair is minted or merged, prices are in YES terms and
 * each side has its own asset.
 * @param yesAssets IDs of all YES assets
 */
export function sidesOf(fill: LedgerFill, yesAssets: ReadonlySet<string>): { taker: FillSide; maker: FillSide } {
  const { kind, buyer, seller, taker } = fill;
  const cents = Math.round(fill.price * 100);
  const side = (bids: boolean): FillSide => {
    const userId = bids ? buyer : seller;
    if (kind === 'transfer') {
      const outcome = yesAssets.has(fill.assetId) ? 'YES' : 'NO';
      return { userId, outcome, side: bids ? 'BUY' : 'SELL', cents };
    }
    const isYes = bids === (kind === 'mint');
    const ownSide = kind === 'mint' ? 'BUY' : 'SELL';
    return { userId, outcome: isYes ? 'YES' : 'NO', side: ownSide, cents: isYes ? cents : 100 - cents };
  };
  return { taker: side(taker === 'buyer'), maker: side(taker !== 'buyer') };
}

/** A purchase of which shares are left: hundredths of shares, at cents. */
interface Lot {
  left: number;
  readonly cents: number;
}

/**
 * What the shares cost that each user holds of an asset when the oldest are sold first, millionths of USDC without fees;
 * by user ID, market and outcome, like `u1 m1 YES`.
 * @param fills in the order of the ledger
 */
export function fifoCosts(fills: readonly LedgerFill[], yesAssets: ReadonlySet<string>): Map<string, bigint> {
  const held = new Map<string, Lot[]>();
  for (const fill of fills) {
    for (const { userId, outcome, side, cents } of Object.values(sidesOf(fill, yesAssets))) {
      const key = `${userId} ${fill.marketId} ${outcome}`;
      const lots = held.get(key) ?? [];
      held.set(key, lots);
      let left = Math.round(fill.quantity * 100);
      if (side === 'BUY') lots.push({ left, cents });
      while (side === 'SELL' && left > 0 && lots[0]) {
        const sold = Math.min(left, lots[0].left);
        left -= sold;
        lots[0].left -= sold;
        if (lots[0].left === 0) lots.shift();
      }
    }
  }
  const costOf = (lots: readonly Lot[]) => lots.reduce((sum, { left, cents }) => sum + left * cents * 100, 0);
  return new Map([...held].map(([key, lots]) => [key, BigInt(costOf(lots))]));
}

/** Sums of fills, exact: fills, hundredths of shares, millionths of USDC. */
export interface Volume {
  trades: number;
  hundredths: number;
  micros: number;
  /** At the price in YES terms. */
  yesMicros: number;
}

/** Sums fills by `keyOf`, each with the side given by `sideOf` and at its price. */
export function volumeBy(
  fills: readonly LedgerFill[],
  sideOf: (fill: LedgerFill) => FillSide,
  keyOf: (fill: LedgerFill, side: FillSide) => string,
): Map<string, Volume> {
  const sums = new Map<string, Volume>();
  for (const fill of fills) {
    const side = sideOf(fill);
    const key = keyOf(fill, side);
    const sum = sums.get(key) ?? { trades: 0, hundredths: 0, micros: 0, yesMicros: 0 };
    const { cents, outcome } = side;
    const hundredths = Math.round(fill.quantity * 100);
    sum.trades += 1;
    sum.hundredths += hundredths;
    sum.micros += cents * hundredths * 100;
    sum.yesMicros += (outcome === 'YES' ? cents : 100 - cents) * hundredths * 100;
    sums.set(key, sum);
  }
  return sums;
}
