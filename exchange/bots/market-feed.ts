import type { Component } from '../../core/index.js';
import type { EventView, ExchangeCore } from '../engine/index.js';
import { attentionOf } from './attention.js';
import type { Quote, Quotes } from './gateway.js';

const inCents = (price: number): number => Math.round(price * 100);

type LiveQuote = { -readonly [K in keyof Quote]: Quote[K] };

/** Follows the prices of all open markets. */
export class MarketFeed implements Quotes, Component {
  readonly name = 'market feed';
  readonly #byId = new Map<string, LiveQuote>();
  #markets: readonly Quote[] = [];
  #unsubscribe: (() => void)[] = [];

  constructor(private readonly core: ExchangeCore) {}

  async start(): Promise<void> {
    this.#unsubscribe = [
      this.core.on('eventOpened', (event) => this.#add([event])),
      this.core.on('marketResolved', ({ marketId }) => this.#drop(marketId)),
      this.core.on('price', ({ marketId, chance, bestBid, bestAsk }) => {
        const quote = this.#byId.get(marketId);
        if (!quote) return;
        quote.last = chance * 100;
        quote.bid = inCents(bestBid);
        quote.ask = inCents(bestAsk);
      }),
    ];
    this.#add(this.core.events());
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  get markets(): readonly Quote[] {
    return this.#markets;
  }

  of(marketId: string): Quote | undefined {
    return this.#byId.get(marketId);
  }

  #add(events: readonly EventView[]): void {
    for (const { eventId, markets } of events) {
      const attention = attentionOf(eventId);
      for (const { marketId, yesAssetId, noAssetId, chance, bestBid, bestAsk, resolved } of markets) {
        if (resolved) continue;
        const prices = { last: chance * 100, bid: inCents(bestBid), ask: inCents(bestAsk) };
        this.#byId.set(marketId, { eventId, marketId, yesAssetId, noAssetId, ...prices, attention });
      }
    }
    this.#markets = [...this.#byId.values()];
  }

  #drop(marketId: string): void {
    this.#byId.delete(marketId);
    this.#markets = [...this.#byId.values()];
  }
}
