import type { ExchangeCore, Outcome, Side } from '../engine/index.js';
import type { OpenOrder, OrderGateway, Quote } from './gateway.js';

/** Orders of one account, handed to the engine in this process. */
export class EngineGateway implements OrderGateway {
  constructor(
    private readonly core: ExchangeCore,
    private readonly userId: string,
  ) {}

  async limit(market: Quote, outcome: Outcome, side: Side, price: number, quantity: number) {
    const result = this.core.placeLimit({ ...this.#target(market, outcome), side, price, quantity });
    return result.ok ? result.value.orderId : undefined;
  }

  async buy(market: Quote, outcome: Outcome, amountMicros: number): Promise<boolean> {
    return this.core.placeMarket({ ...this.#target(market, outcome), side: 'BUY', amountMicros }).ok;
  }

  async sell(market: Quote, outcome: Outcome, quantity: number): Promise<boolean> {
    return this.core.placeMarket({ ...this.#target(market, outcome), side: 'SELL', quantity }).ok;
  }

  async cancel(orderId: string): Promise<boolean> {
    return this.core.cancel(this.userId, orderId).ok;
  }

  async openOrders(marketId?: string): Promise<readonly OpenOrder[]> {
    return this.core.activeOrders(this.userId, marketId);
  }

  async freeShares(market: Quote, outcome: Outcome): Promise<number> {
    return this.core.freeShares(this.userId, this.#target(market, outcome).assetId);
  }

  #target(market: Quote, outcome: Outcome) {
    const { eventId, marketId, yesAssetId, noAssetId } = market;
    return { userId: this.userId, eventId, marketId, assetId: outcome === 'YES' ? yesAssetId : noAssetId };
  }
}
