/** A fill as the control call tells it. */
export interface TruthTrade {
  readonly tradeId: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly assetId: string;
  readonly price: number;
  readonly quantity: number;
  readonly takerFee: number;
  readonly taker: 'buyer' | 'seller';
  readonly buyer: string;
  readonly seller: string;
  readonly kind: 'transfer' | 'mint' | 'merge';
  /** Unix microseconds. */
  readonly at: number;
}

/** One side of a fill: what one account did. */
export interface FillSide {
  readonly userId: string;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  /** Of the asset that this side traded, cents. */
  readonly cents: number;
}

/**
 * Both sides of a fill, worked out from the contract of the control call: where a pair is minted or merged, prices are in
 * YES terms, and each side has its own asset.
 * @param yesAssets IDs of all YES assets
 */
export function sidesOf(fill: TruthTrade, yesAssets: ReadonlySet<string>): { taker: FillSide; maker: FillSide } {
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

/** Adds up fills by what `keyOf` says, each at the price of the side that `sideOf` picks. */
export function volumeBy(
  fills: readonly TruthTrade[],
  sideOf: (fill: TruthTrade) => FillSide,
  keyOf: (fill: TruthTrade) => string,
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
