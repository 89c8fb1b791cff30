import {
  type Event,
  type ExchangeAddresses,
  type ExchangeClient,
  OrderBookStream,
  type PriceEntry,
} from '../client/index.js';
import { BOTS_USER_AGENT, type Clock, type Component, describeError, type Logger, OutageLog } from '../core/index.js';
import { attentionOf } from './attention.js';
import { assetOf, type Quote, type Quotes } from './market.js';
import { SOCKET_TIMES } from './socket-times.js';
import { centsOf } from './units.js';

/** Interval of event searches, at pace 1 and at least, milliseconds. */
const SEARCH_MS = 10_000;
const MIN_SEARCH_MS = 500;
/** Interval of requesting all prices again, milliseconds. */
const ASK_AGAIN_MS = 10_000;

type LiveQuote = { -readonly [K in keyof Quote]: Quote[K] };

interface MarketWatchOptions {
  readonly exchange: ExchangeClient;
  readonly addresses: ExchangeAddresses;
  readonly clock: Clock;
  readonly pace: number;
  /** Called when a market is resolved. */
  readonly onClosed: (marketId: string) => void;
  readonly log: Logger;
}

/** Tracks the prices of all open markets, by event search and the order book stream. */
export class MarketWatch implements Quotes, Component {
  readonly name = 'market watch';
  readonly #stream: OrderBookStream;
  readonly #outage: OutageLog;
  readonly #stopped = new AbortController();
  /** Markets of the events that the search lists, with prices or without. */
  readonly #listed = new Map<string, LiveQuote>();
  readonly #priced = new Set<string>();
  /** By event: whether prices arrived since they were last requested. */
  readonly #heard = new Map<string, boolean>();
  readonly #byAsset = new Map<string, Quote>();
  #markets: readonly Quote[] = [];
  #usdcId: string | undefined;
  #askedAtMs = 0;
  #loop: Promise<void> | undefined;

  constructor(private readonly options: MarketWatchOptions) {
    const { addresses, log } = options;
    this.#outage = new OutageLog(log, 'the bots can search events again');
    this.#stream = new OrderBookStream({
      addresses,
      ...SOCKET_TIMES,
      userAgent: BOTS_USER_AGENT,
      onConnected: () => this.#heard.clear(),
      onMessage: (message) => {
        if (message.type !== 'prices') return;
        this.#heard.set(message.eventId, true);
        for (const price of message.prices) this.#onPrice(price);
      },
    });
  }

  get markets(): readonly Quote[] {
    return this.#markets;
  }

  of(marketId: string): Quote | undefined {
    return this.#priced.has(marketId) ? this.#listed.get(marketId) : undefined;
  }

  ofAsset(assetId: string): Quote | undefined {
    return this.#byAsset.get(assetId);
  }

  /** The coin ID of USDC, once it is known. */
  get usdcId(): string | undefined {
    return this.#usdcId;
  }

  /** Begins to search and subscribe; resolves at once. */
  async start(signal: AbortSignal): Promise<void> {
    const all = AbortSignal.any([signal, this.#stopped.signal]);
    this.#stream.start();
    this.#loop = this.#search(all);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#loop, this.#stream.close()]);
  }

  async #search(signal: AbortSignal): Promise<void> {
    const { clock, pace } = this.options;
    while (!signal.aborted) {
      try {
        await this.#look(signal);
        this.#outage.succeeded();
      } catch (error) {
        if (!signal.aborted) this.#outage.failed(`the bots could not search events: ${describeError(error)}`);
      }
      const everyMs = this.#usdcId === undefined ? MIN_SEARCH_MS : SEARCH_MS / pace;
      await clock.sleep(Math.max(MIN_SEARCH_MS, everyMs), signal).catch(() => undefined);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { exchange } = this.options;
    this.#usdcId ??= (await exchange.coins({ signal })).items.find(({ ticker }) => ticker === 'USDC')?.coinId;
    const walk = exchange.walkEvents({}, { signal });
    const open = new Set<string>();
    for await (const page of walk) {
      for (const event of page.items) {
        open.add(event.eventId);
        this.#list(event);
      }
    }
    if (walk.report.complete) this.#dropOthers(open);
    this.#askAgain();
  }

  #list({ eventId, markets }: Event): void {
    for (const { marketId, yesAssetId, noAssetId } of markets) {
      if (this.#listed.has(marketId) || yesAssetId === null || noAssetId === null) continue;
      const ids = { eventId, marketId, yesAssetId, noAssetId };
      this.#listed.set(marketId, { ...ids, last: 50, bid: 0, ask: 100, attention: attentionOf(eventId) });
    }
    if (!this.#stream.subscriptions.has(eventId)) this.#stream.subscribe(eventId);
  }

  #dropOthers(open: ReadonlySet<string>): void {
    for (const eventId of [...this.#stream.subscriptions]) {
      if (open.has(eventId)) continue;
      this.#stream.unsubscribe(eventId);
      this.#heard.delete(eventId);
      for (const quote of [...this.#listed.values()]) {
        if (quote.eventId !== eventId) continue;
        this.#close(quote);
        this.#listed.delete(quote.marketId);
      }
    }
  }

  /** Requests all prices again, in case an update was lost; when the last request got no answer, the connection is stale. */
  #askAgain(): void {
    const now = this.options.clock.nowMs();
    if (now - this.#askedAtMs < ASK_AGAIN_MS) return;
    this.#askedAtMs = now;
    for (const heard of this.#heard.values()) {
      if (heard) continue;
      this.#stream.reconnect('requested prices were not received');
      return;
    }
    for (const eventId of this.#stream.subscriptions) {
      if (this.#stream.requestData(eventId)) this.#heard.set(eventId, false);
    }
  }

  #onPrice({ marketId, chance, bestBid, bestAsk }: PriceEntry): void {
    const quote = this.#listed.get(marketId);
    if (!quote) return;
    // Trades are never at 0 or 1: the market is resolved.
    if (chance <= 0 || chance >= 1) {
      this.#close(quote);
      return;
    }
    quote.last = chance * 100;
    quote.bid = centsOf(bestBid);
    quote.ask = centsOf(bestAsk);
    if (this.#priced.has(marketId)) return;
    this.#priced.add(marketId);
    for (const outcome of ['YES', 'NO'] as const) this.#byAsset.set(assetOf(quote, outcome), quote);
    this.#markets = [...this.#markets, quote];
  }

  #close(quote: Quote): void {
    if (!this.#priced.delete(quote.marketId)) return;
    for (const outcome of ['YES', 'NO'] as const) this.#byAsset.delete(assetOf(quote, outcome));
    this.#markets = this.#markets.filter((other) => other !== quote);
    this.options.onClosed(quote.marketId);
  }
}
