import type { Random } from '../core/index.js';
import { pickMarket } from './attention.js';
import { askOf, isQuoted, type Outcome, type Quote, type Quotes, type Strategy } from './market.js';
import type { OrderGateway } from './order-gateway.js';
import { costOf, MICROS } from './units.js';

const TURN_MS = 550;
const OPEN_ORDERS = 8;
/** Probability of selling what it holds; above it and up to the second, of a market BUY; else it places a limit order. */
const SELLS = 0.45;
const TAKES = 0.7;

/**
 * Trades without information: small orders either way, at market or near it. It leaves out books that are not quoted on
 * both sides.
 */
export class NoiseTrader implements Strategy {
  constructor(
    private readonly gateway: OrderGateway,
    private readonly quotes: Quotes,
    private readonly random: Random,
  ) {}

  async act(): Promise<number> {
    const market = pickMarket(this.quotes.markets, this.random);
    if (market && isQuoted(market)) await this.#trade(market, this.random.next() < 0.5 ? 'YES' : 'NO');
    return this.random.exponential(TURN_MS);
  }

  async #trade(market: Quote, outcome: Outcome): Promise<void> {
    const quantity = this.random.integer(100, 1500);
    const held = this.gateway.free(market, outcome);
    const amount = Math.min(this.random.integer(1, 8) * MICROS, costOf(quantity, askOf(market, outcome)));
    const draw = this.random.next();
    if (held > 0 && draw < SELLS) await this.gateway.sell(market, outcome, Math.min(held, quantity));
    else if (draw < TAKES && amount <= this.gateway.freeMicros) await this.gateway.buy(market, outcome, amount);
    else await this.#rest(market, outcome, held, quantity);
  }

  /** Places a limit order one cent inside the spread, or at the best price of its side. */
  async #rest(market: Quote, outcome: Outcome, held: number, quantity: number): Promise<void> {
    const { orders } = this.gateway;
    if (orders.count >= OPEN_ORDERS && orders.oldest) await this.gateway.cancel(orders.oldest);
    const [bid, ask] = outcome === 'YES' ? [market.bid, market.ask] : [100 - market.ask, 100 - market.bid];
    const inside = ask - bid > 1 ? 1 : 0;
    if (held >= quantity) await this.gateway.limit(market, outcome, 'SELL', clamp(ask - inside), quantity);
    else await this.gateway.limit(market, outcome, 'BUY', clamp(bid + inside), quantity);
  }
}

const clamp = (price: number): number => Math.max(1, Math.min(99, price));
