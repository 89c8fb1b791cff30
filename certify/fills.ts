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

/** Sums of fills, exact: fills, hundredths of shares, millionths of USDC. */
export interface Volume {
  trades: number;
  hundredths: number;
  micros: number;
  /** At the price in YES terms. */
  yesMicros: number;
}

/** Sums fills by `keyOf`, each at the price of the side given by `sideOf`. */
export function volumeBy(
  fills: readonly LedgerFill[],
  sideOf: (fill: LedgerFill) => FillSide,
  keyOf: (fill: LedgerFill) => string,
): Map<string, Volume> {
  const sums = new Map<string, Volume>();
  for (const fill of fills) {
    const key = keyOf(fill);
    const sum = sums.get(key) ?? { trades: 0, hundredths: 0, micros: 0, yesMicros: 0 };
    const { cents, outcome } = sideOf(fill);
    const hundredths = Math.round(fill.quantity * 100);
    sum.trades += 1;
    sum.hundredths += hundredths;
    sum.micros += cents * hundredths * 100;
    sum.yesMicros += (outcome === 'YES' ? cents : 100 - cents) * hundredths * 100;
    sums.set(key, sum);
  }
  return sums;
}
