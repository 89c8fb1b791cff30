import { MICROS, type Outcome, type Random } from '../engine/index.js';
import { pickMarket } from './attention.js';
import type { OrderGateway, Quote, Quotes, Strategy } from './gateway.js';

const TURN_MS = 260;
const OPEN_ORDERS = 8;

/** Trades for no reason: small orders either way, at market or near it, and sells again what it got. */
export class NoiseTrader implements Strategy {
  constructor(
    private readonly gateway: OrderGateway,
    private readonly quotes: Quotes,
    private readonly random: Random,
  ) {}

  async act(): Promise<number> {
    const market = pickMarket(this.quotes.markets, this.random);
    if (market) await this.#trade(market, this.random.next() < 0.5 ? 'YES' : 'NO');
    return this.random.exponential(TURN_MS);
  }

  async #trade(market: Quote, outcome: Outcome): Promise<void> {
    const quantity = this.random.integer(100, 1500);
    const held = await this.gateway.freeShares(market, outcome);
    const mood = this.random.next();
    if (held > 0 && mood < 0.45) await this.gateway.sell(market, outcome, Math.min(held, quantity));
    else if (mood < 0.5) await this.gateway.buy(market, outcome, this.random.integer(1, 8) * MICROS);
    else await this.#rest(market, outcome, held, quantity);
  }

  /** Leaves a limit order at the best price of its side or a little behind it. */
  async #rest(market: Quote, outcome: Outcome, held: number, quantity: number): Promise<void> {
    const open = await this.gateway.openOrders();
    if (open.length >= OPEN_ORDERS && open[0]) await this.gateway.cancel(open[0].orderId);
    const [bid, ask] = outcome === 'YES' ? [market.bid, market.ask] : [100 - market.ask, 100 - market.bid];
    const away = this.random.integer(-1, 3);
    if (held >= quantity) {
      await this.gateway.limit(market, outcome, 'SELL', clamp(Math.max(ask + away, bid + 1)), quantity);
    } else {
      await this.gateway.limit(market, outcome, 'BUY', clamp(Math.min(bid - away, ask - 1)), quantity);
    }
  }
}

const clamp = (price: number): number => Math.max(1, Math.min(99, price));
