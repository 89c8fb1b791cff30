import type { Random } from '../core/index.js';
import { numberIn, pickMarket } from './attention.js';
import { type Outcome, otherOutcome, type Quote, type Quotes, type Strategy } from './market.js';
import type { OrderGateway } from './order-gateway.js';
import type { OwnOrder } from './own-orders.js';

const TURN_MS = 500;
/** Delay between first quotes in markets that have none of its own. */
const FIRST_QUOTES_MS = 25;
/**
 * Distance of each level from the middle beyond the half spread, how far off an order may be and stay (both cents), and
 * its size in hundredths.
 */
const LEVELS = [
  { beyond: 0, slack: 1, min: 1500, max: 6000 },
  { beyond: 2, slack: 2, min: 4000, max: 15_000 },
  { beyond: 5, slack: 3, min: 8000, max: 30_000 },
] as const;
/** Shares (hundredths) of one outcome that move its middle by a cent. */
const SHARES_PER_CENT = 40_000;
/** Probability, per turn, of drawing a new spread. */
const NEW_SPREAD = 0.1;

interface Wanted {
  readonly outcome: Outcome;
  /** Of the outcome, cents. */
  readonly price: number;
  readonly quantity: number;
  readonly slack: number;
}

/**
 * Quotes both sides of markets around the last price, on several levels, skewed against its inventory. It buys YES and buys
 * NO (which is an ask), and sells what it holds when it can. A quote that is close enough stays.
 */
export class MarketMaker implements Strategy {
  /** Half the spread that it asks for, cents, by market that it quotes. */
  readonly #halves = new Map<string, number>();

  constructor(
    private readonly gateway: OrderGateway,
    private readonly quotes: Quotes,
    private readonly random: Random,
    /** Which of the market makers it is: every market has two, or the only one. */
    private readonly rank: { readonly nth: number; readonly of: number },
  ) {}

  async act(): Promise<number> {
    const own = this.quotes.markets.filter((market) => this.#isOwn(market));
    const fresh = own.find(({ marketId }) => !this.#halves.has(marketId));
    const market = fresh ?? pickMarket(own, this.random);
    if (!market) return TURN_MS;
    if (this.#halves.size > this.quotes.markets.length * 2) this.#forgetClosed();
    await this.#quote(market, this.#halfOf(market));
    return fresh ? FIRST_QUOTES_MS : this.random.exponential(TURN_MS);
  }

  #isOwn({ marketId }: Quote): boolean {
    const { nth, of } = this.rank;
    const first = numberIn(marketId) % of;
    return nth === first || nth === (first + 1) % of;
  }

  #halfOf({ marketId }: Quote): number {
    let half = this.#halves.get(marketId);
    if (half === undefined || this.random.next() < NEW_SPREAD) {
      half = 1 + this.random.next() * 1.5;
      this.#halves.set(marketId, half);
    }
    return half;
  }

  #forgetClosed(): void {
    for (const marketId of this.#halves.keys()) if (!this.quotes.of(marketId)) this.#halves.delete(marketId);
  }

  async #quote(market: Quote, half: number): Promise<void> {
    const [yes, no] = [this.gateway.free(market, 'YES'), this.gateway.free(market, 'NO')];
    const lean = Math.max(-3, Math.min(3, (yes - no) / SHARES_PER_CENT));
    const middle = market.last - lean;
    const wanted: Wanted[] = [];
    for (const { beyond, slack, min, max } of LEVELS) {
      const bid = Math.min(Math.floor(middle - half - beyond), market.ask - 1, 98);
      const ask = Math.max(Math.ceil(middle + half + beyond), market.bid + 1, 2);
      const quantity = this.random.integer(min, max);
      if (bid >= 1) wanted.push({ outcome: 'YES', price: bid, quantity, slack });
      if (ask <= 99) wanted.push({ outcome: 'NO', price: 100 - ask, quantity, slack });
    }
    for (const order of this.gateway.orders.ofMarket(market.marketId)) {
      const stays = wanted.findIndex((one) => isCloseTo(order, one));
      if (stays >= 0) wanted.splice(stays, 1);
      else await this.gateway.cancel(order);
    }
    for (const { outcome, price, quantity } of wanted) await this.#place(market, outcome, price, quantity);
  }

  /** Bids for an outcome; sells what it holds of the other one instead, which is the same side and price in the book. */
  async #place(market: Quote, outcome: Outcome, price: number, quantity: number): Promise<void> {
    const other = otherOutcome(outcome);
    if (this.gateway.free(market, other) >= quantity)
      await this.gateway.limit(market, other, 'SELL', 100 - price, quantity);
    else await this.gateway.limit(market, outcome, 'BUY', price, quantity);
  }
}

/** Whether an order is close enough to a wanted quote. Selling the other outcome is the same side of the book. */
function isCloseTo(order: OwnOrder, wanted: Wanted): boolean {
  const [outcome, price] =
    order.side === 'BUY' ? [order.outcome, order.price] : [otherOutcome(order.outcome), 100 - order.price];
  return outcome === wanted.outcome && Math.abs(price - wanted.price) <= wanted.slack;
}
