import type { Random } from '../core/index.js';
import { pickMarket } from './attention.js';
import { isQuoted, type Outcome, otherOutcome, type Quote, type Quotes, type Strategy } from './market.js';
import type { OrderGateway } from './order-gateway.js';
import { costOf } from './units.js';

const TURN_MS = 500;
/** Standard deviation of its error about the fair value, cents. */
const NOISE = 1.2;
/** It trades when the price is at least this far from its estimate, cents. */
const EDGE = 1.5;
const OPEN_ORDERS = 12;

/** Knows the hidden fair value with noise added, and trades when the price is far enough from it. */
export class InformedTrader implements Strategy {
  constructor(
    private readonly gateway: OrderGateway,
    private readonly quotes: Quotes,
    private readonly random: Random,
    /** The hidden chance of a market, 0..1. */
    private readonly fair: (marketId: string) => number | undefined,
  ) {}

  async act(): Promise<number> {
    const market = pickMarket(this.quotes.markets, this.random);
    const fair = market && isQuoted(market) ? this.fair(market.marketId) : undefined;
    if (market && fair !== undefined) await this.#trade(market, fair * 100 + this.random.normal() * NOISE);
    return this.random.exponential(TURN_MS);
  }

  /** @param estimate its estimate of the fair price for YES, cents */
  async #trade(market: Quote, estimate: number): Promise<void> {
    if (market.ask < 100 && estimate - market.ask >= EDGE) await this.#take(market, 'YES', market.ask, estimate);
    else if (market.bid > 0 && market.bid - estimate >= EDGE)
      await this.#take(market, 'NO', 100 - market.bid, 100 - estimate);
    else await this.#improve(market, estimate);
  }

  /** Takes what is offered for an outcome at `price`: by selling the other one if it holds some, else by buying. */
  async #take(market: Quote, outcome: Outcome, price: number, estimate: number): Promise<void> {
    const quantity = this.random.integer(500, 6000);
    const other = otherOutcome(outcome);
    const held = Math.min(quantity, this.gateway.free(market, other));
    const amount = costOf(quantity, price);
    if (held > 0) await this.gateway.sell(market, other, held);
    else if (amount > this.gateway.freeMicros) return;
    else if (this.random.next() < 0.5) await this.gateway.buy(market, outcome, amount);
    else await this.gateway.limit(market, outcome, 'BUY', Math.min(99, Math.floor(estimate)), quantity);
  }

  /** Bids a cent more than the best, on the side where that still leaves it an edge. */
  async #improve(market: Quote, estimate: number): Promise<void> {
    if (market.ask - market.bid <= 1) return;
    const quantity = this.random.integer(300, 2500);
    if (estimate - (market.bid + 1) >= EDGE) await this.#bid(market, 'YES', market.bid + 1, quantity);
    else if (market.ask - 1 - estimate >= EDGE) await this.#bid(market, 'NO', 101 - market.ask, quantity);
  }

  async #bid(market: Quote, outcome: Outcome, price: number, quantity: number): Promise<void> {
    const { orders } = this.gateway;
    if (orders.count >= OPEN_ORDERS && orders.oldest) await this.gateway.cancel(orders.oldest);
    await this.gateway.limit(market, outcome, 'BUY', Math.min(99, price), quantity);
  }
}
