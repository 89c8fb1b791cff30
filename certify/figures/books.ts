import { type FillSide, sidesOf } from '../fills.js';
import type { Ledger, LedgerFill, LedgerMarket } from '../truth.js';

/** What an account did with an asset until some moment, exact: hundredths of shares, millionths of USDC without fees. */
export interface Book {
  readonly trades: bigint;
  readonly shares: bigint;
  readonly bought: bigint;
  readonly sold: bigint;
  readonly fees: bigint;
  /** Cost of what is held, by average cost. */
  readonly cost: bigint;
  /** The same, first in, first out. */
  readonly fifoCost: bigint;
}

/** One side of a fill. */
export interface AssetTrade {
  /** Unix milliseconds, as the exchange sends it. */
  readonly at: number;
  readonly tradeId: string;
  readonly side: FillSide['side'];
  /** Hundredths of shares. */
  readonly quantity: bigint;
  /** Cents. */
  readonly price: bigint;
  /** Millionths of USDC. */
  readonly fee: bigint;
}

/** All trades of an account in an asset, in the order of the ledger. */
export interface AccountAsset {
  readonly account: string;
  readonly asset: string;
  readonly outcome: 'YES' | 'NO';
  readonly market: LedgerMarket;
  readonly trades: readonly AssetTrade[];
}

const EMPTY: Book = { trades: 0n, shares: 0n, bought: 0n, sold: 0n, fees: 0n, cost: 0n, fifoCost: 0n };

/** @param names name of each recorded account, by user ID */
export function accountAssets({ fills, markets }: Ledger, names: ReadonlyMap<string, string>): AccountAsset[] {
  const byId = new Map(markets.map((market) => [market.marketId, market]));
  const yesAssets = new Set(markets.map(({ assets }) => assets.yes));
  const found = new Map<string, AccountAsset & { readonly trades: AssetTrade[] }>();
  const add = (fill: LedgerFill, { userId, outcome, side, cents }: FillSide, fee: number): void => {
    const [account, market] = [names.get(userId), byId.get(fill.marketId)];
    if (account === undefined || market === undefined) return;
    const asset = outcome === 'YES' ? market.assets.yes : market.assets.no;
    const one = found.get(`${account} ${asset}`) ?? { account, asset, outcome, market, trades: [] };
    found.set(`${account} ${asset}`, one);
    one.trades.push({
      ...{ at: Math.floor(fill.at / 1000), tradeId: fill.tradeId, side },
      ...{
        quantity: BigInt(Math.round(fill.quantity * 100)),
        price: BigInt(cents),
        fee: BigInt(Math.round(fee * 1e6)),
      },
    });
  };
  for (const fill of fills) {
    const { taker, maker } = sidesOf(fill, yesAssets);
    add(fill, taker, fill.takerFee);
    add(fill, maker, 0);
  }
  return [...found.values()];
}

/** The books after each trade. */
export function booksOf(trades: readonly AssetTrade[]): Book[] {
  const lots: { left: bigint; readonly price: bigint }[] = [];
  let book = EMPTY;
  return trades.map((trade) => {
    const worth = trade.quantity * trade.price * 100n;
    const [trades, fees] = [book.trades + 1n, book.fees + trade.fee];
    if (trade.side === 'BUY') {
      lots.push({ left: trade.quantity, price: trade.price });
      const { shares, bought, cost, fifoCost } = book;
      book = {
        ...{ ...book, trades, fees, shares: shares + trade.quantity, bought: bought + worth },
        ...{ cost: cost + worth, fifoCost: fifoCost + worth },
      };
      return book;
    }
    const shares = book.shares - trade.quantity;
    const cost = book.cost - halfToEven(book.cost * trade.quantity, book.shares);
    book = {
      ...book,
      trades,
      fees,
      shares,
      sold: book.sold + worth,
      cost,
      fifoCost: book.fifoCost - sell(lots, trade.quantity),
    };
    return book;
  });
}

/** Takes shares from the oldest lots, and returns what they cost. */
function sell(lots: { left: bigint; readonly price: bigint }[], quantity: bigint): bigint {
  let cost = 0n;
  for (let left = quantity; left > 0n && lots[0]; ) {
    const part = left < lots[0].left ? left : lots[0].left;
    lots[0].left -= part;
    left -= part;
    cost += part * lots[0].price * 100n;
    if (lots[0].left === 0n) lots.shift();
  }
  return cost;
}

function halfToEven(numerator: bigint, divisor: bigint): bigint {
  const down = numerator / divisor;
  const twice = (numerator % divisor) * 2n;
  return twice > divisor || (twice === divisor && down % 2n === 1n) ? down + 1n : down;
}
