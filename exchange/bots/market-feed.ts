import type { Component } from '../../core/index.js';
import type { EventView, ExchangeCore } from '../engine/index.js';
import type { Quote, Quotes } from './gateway.js';

const inCents = (price: number): number => Math.round(price * 100);

/** Follows the prices of all open markets. */
export class MarketFeed implements Quotes, Component {
  readonly name = 'market feed';
  readonly #byId = new Map<string, Quote>();
  #markets: readonly Quote[] | undefined;
  #unsubscribe: (() => void)[] = [];

  constructor(private readonly core: ExchangeCore) {}

  async start(): Promise<void> {
    for (const event of this.core.events()) this.#add(event);
    this.#unsubscribe = [
      this.core.on('eventOpened', (event) => this.#add(event)),
      this.core.on('marketResolved', ({ marketId }) => {
        this.#byId.delete(marketId);
        this.#markets = undefined;
      }),
      this.core.on('price', ({ marketId, chance, bestBid, bestAsk }) => {
        const known = this.#byId.get(marketId);
        if (!known) return;
        this.#byId.set(marketId, { ...known, last: chance * 100, bid: inCents(bestBid), ask: inCents(bestAsk) });
        this.#markets = undefined;
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  get markets(): readonly Quote[] {
    this.#markets ??= [...this.#byId.values()];
    return this.#markets;
  }

  of(marketId: string): Quote | undefined {
    return this.#byId.get(marketId);
  }

  #add(event: EventView): void {
    for (const market of event.markets) {
      if (market.resolved) continue;
      const { eventId, marketId, yesAssetId, noAssetId, chance, bestBid, bestAsk } = market;
      const prices = { last: chance * 100, bid: inCents(bestBid), ask: inCents(bestAsk) };
      this.#byId.set(marketId, { eventId, marketId, yesAssetId, noAssetId, ...prices });
    }
    this.#markets = undefined;
  }
}
