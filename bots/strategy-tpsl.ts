import type { Random } from '../core/index.js';
import { pickMarket } from './attention.js';
import { askOf, isQuoted, type Outcome, type Quote, type Quotes, type Strategy } from './market.js';
import type { OrderGateway } from './order-gateway.js';
import { costOf } from './units.js';

const TURN_MS = 1000;
/** Positions that it has at a time. */
const POSITIONS = 6;
/** Smaller holdings are left without an order, hundredths of a share. */
const MIN_SHARES = 100;
/** Probability, per turn, of closing a protected position by itself. */
const CLOSES = 0.06;

/**
 * Buys, and protects every position with a take-profit and a stop-loss order. Some of these trigger, others it cancels and
 * sells by itself.
 */
export class TpslUser implements Strategy {
  constructor(
    private readonly gateway: OrderGateway,
    private readonly quotes: Quotes,
    private readonly random: Random,
  ) {}

  async act(): Promise<number> {
    const bare = this.#unprotected();
    const [oldest] = this.gateway.tpsl;
    if (bare) await this.#protect(bare.market, bare.outcome);
    else if (oldest && this.random.next() < CLOSES) await this.#close(...oldest);
    else if (this.gateway.tpsl.size < POSITIONS) await this.#open();
    return this.random.exponential(TURN_MS);
  }

  /** A holding without a TP/SL order. */
  #unprotected(): { market: Quote; outcome: Outcome } | undefined {
    const watched = new Set(this.gateway.tpsl.values());
    for (const assetId of this.gateway.freeAssets) {
      const market = watched.has(assetId) ? undefined : this.quotes.ofAsset(assetId);
      if (!market) continue;
      const outcome = assetId === market.yesAssetId ? 'YES' : 'NO';
      if (this.gateway.free(market, outcome) >= MIN_SHARES) return { market, outcome };
    }
    return undefined;
  }

  async #protect(market: Quote, outcome: Outcome): Promise<void> {
    const price = Math.round(outcome === 'YES' ? market.last : 100 - market.last);
    const takeProfit = Math.min(99, price + this.random.integer(1, 4));
    const stopLoss = Math.max(1, price - this.random.integer(1, 4));
    await this.gateway.protect(market, outcome, this.gateway.free(market, outcome), takeProfit, stopLoss);
  }

  async #close(tpslId: string, assetId: string): Promise<void> {
    const market = this.quotes.ofAsset(assetId);
    if (market && !isQuoted(market)) return;
    await this.gateway.unprotect(tpslId);
    if (!market) return;
    const outcome = assetId === market.yesAssetId ? 'YES' : 'NO';
    const held = this.gateway.free(market, outcome);
    if (held > 0) await this.gateway.sell(market, outcome, held);
  }

  /** Half of the time a market BUY, half of the time a limit BUY at the best bid. */
  async #open(): Promise<void> {
    const market = pickMarket(this.quotes.markets, this.random);
    if (!market || !isQuoted(market)) return;
    const outcome = this.random.next() < 0.5 ? 'YES' : 'NO';
    const quantity = this.random.integer(500, 3000);
    const amount = costOf(quantity, askOf(market, outcome));
    if (amount > this.gateway.freeMicros) return;
    if (this.random.next() < 0.5) await this.gateway.buy(market, outcome, amount);
    else await this.#bid(market, outcome, quantity);
  }

  async #bid(market: Quote, outcome: Outcome, quantity: number): Promise<void> {
    const { orders } = this.gateway;
    if (orders.count >= POSITIONS && orders.oldest) await this.gateway.cancel(orders.oldest);
    const [bid, ask] = outcome === 'YES' ? [market.bid, market.ask] : [100 - market.ask, 100 - market.bid];
    const price = Math.max(1, Math.min(bid + 1, ask - 1, 99));
    await this.gateway.limit(market, outcome, 'BUY', price, quantity);
  }
}
