import type { Outcome, Random } from '../engine/index.js';
import { pickMarket } from './attention.js';
import type { OpenOrder, OrderGateway, Quote, Quotes, Strategy } from './gateway.js';

const TURN_MS = 170;
/** Between first quotes of markets that it does not quote yet. */
const FIRST_QUOTES_MS = 25;
/**
 * Distance of each level from the middle beyond the half spread, how far off an order may be and stay (both cents), and
 * its size in hundredths.
 */
const LEVELS = [
  { beyond: 0, slack: 0, least: 1500, most: 6000 },
  { beyond: 2, slack: 1, least: 4000, most: 15_000 },
  { beyond: 5, slack: 2, least: 8000, most: 30_000 },
] as const;
/** Shares (hundredths) of one outcome that move its middle by a cent. */
const SHARES_PER_CENT = 40_000;

interface Wanted {
  readonly outcome: Outcome;
  /** Of the outcome, cents. */
  readonly price: number;
  readonly quantity: number;
  readonly slack: number;
}

/**
 * Quotes both sides of every market around the last price, on several levels, leaning away from what it holds too much
 * of. It buys YES and buys NO (which is an ask), and sells what it holds when it can.
 */
export class MarketMaker implements Strategy {
  readonly #quoted = new Set<string>();

  constructor(
    private readonly gateway: OrderGateway,
    private readonly quotes: Quotes,
    private readonly random: Random,
    /** It looks after every `of`-th market first, from `nth` on. */
    private readonly share: { readonly nth: number; readonly of: number },
  ) {}

  async act(): Promise<number> {
    const fresh = this.quotes.markets.find((market, i) => this.#isOwn(i) && !this.#quoted.has(market.marketId));
    const market = fresh ?? pickMarket(this.quotes.markets, this.random);
    if (!market) return TURN_MS;
    this.#quoted.add(market.marketId);
    if (this.#quoted.size > this.quotes.markets.length * 2) this.#forgetClosed();
    await this.#quote(market);
    return fresh ? FIRST_QUOTES_MS : this.random.exponential(TURN_MS);
  }

  #isOwn(index: number): boolean {
    return index % this.share.of === this.share.nth;
  }

  #forgetClosed(): void {
    for (const marketId of this.#quoted) if (!this.quotes.of(marketId)) this.#quoted.delete(marketId);
  }

  async #quote(market: Quote): Promise<void> {
    const [yes, no] = [await this.gateway.freeShares(market, 'YES'), await this.gateway.freeShares(market, 'NO')];
    const lean = Math.max(-3, Math.min(3, (yes - no) / SHARES_PER_CENT));
    const middle = market.last - lean;
    const half = 1 + this.random.next() * 1.5;
    const wanted: Wanted[] = [];
    for (const { beyond, slack, least, most } of LEVELS) {
      const bid = Math.min(Math.floor(middle - half - beyond), market.ask - 1, 98);
      const ask = Math.max(Math.ceil(middle + half + beyond), market.bid + 1, 2);
      const quantity = this.random.integer(least, most);
      if (bid >= 1) wanted.push({ outcome: 'YES', price: bid, quantity, slack });
      if (ask <= 99) wanted.push({ outcome: 'NO', price: 100 - ask, quantity, slack });
    }
    for (const order of await this.gateway.openOrders(market.marketId)) {
      const stays = wanted.findIndex((one) => isCloseTo(order, one));
      if (stays >= 0) wanted.splice(stays, 1);
      else await this.gateway.cancel(order.orderId);
    }
    for (const { outcome, price, quantity } of wanted) await this.#place(market, outcome, price, quantity);
  }

  /** Bids for an outcome; what it holds of the other one is sold instead, which stands at the same place in the book. */
  async #place(market: Quote, outcome: Outcome, price: number, quantity: number): Promise<void> {
    const other = outcome === 'YES' ? 'NO' : 'YES';
    const held = await this.gateway.freeShares(market, other);
    if (held >= quantity) await this.gateway.limit(market, other, 'SELL', 100 - price, quantity);
    else await this.gateway.limit(market, outcome, 'BUY', price, quantity);
  }
}

/** Whether an order stands near enough to where one is wanted. Selling the other outcome is the same side of the book. */
function isCloseTo(order: OpenOrder, wanted: Wanted): boolean {
  const other = order.outcome === 'YES' ? 'NO' : 'YES';
  const [outcome, price] = order.side === 'BUY' ? [order.outcome, order.price] : [other, 100 - order.price];
  return outcome === wanted.outcome && Math.abs(price - wanted.price) <= wanted.slack;
}
