import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiKey, ExchangeClient } from '../../client/index.js';
import { type OrderTarget, TradingClient } from '../../client/trading/index.js';
import { BOTS_USER_AGENT, Random, Secret } from '../../core/index.js';
import type { Rig } from '../pipeline/rig.js';

/** A stream that is subscribed per event. */
export type EventStreamName = 'order-book' | 'chance';

/** An event with one market. */
export interface TradedEvent {
  readonly eventId: string;
  readonly marketId: string;
  readonly yesId: string;
  readonly noId: string;
}

/** Chance of a new market. */
export const OPENING_CHANCE = 0.5;
/** Shares per order. */
const QUANTITY = '0.1';
/** Between the trades of a market: each changes the chance in a second of its own. */
const MIN_INTERVAL_MS = 1500;
const MAX_INTERVAL_MS = 2500;
const MAX_REQUESTS_PER_SECOND = 500;

interface ControlEvent {
  readonly id: string;
  readonly outcomes: readonly { readonly marketId: string; readonly yesId: string; readonly noId: string }[];
}

/**
 * Two accounts that trade with each other in events of their own, at random prices. Their client is one of the bots by its
 * User-Agent, so that faults with the target `not-bots` never apply to it.
 */
export class Market {
  readonly events: TradedEvent[] = [];
  readonly #random: Random;
  readonly #paused = new Map<string, number>();
  readonly #trading = new Map<string, Promise<void>>();
  readonly #ending = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #client: ExchangeClient | undefined;
  #accounts: { readonly maker: TradingClient; readonly taker: TradingClient } | undefined;
  #usdc = '';
  #category = '';

  constructor(
    private readonly rig: Rig,
    seed: number,
  ) {
    this.#random = new Random(seed, 'market');
    // One per event.
    setMaxListeners(0, this.#ending.signal);
  }

  /** Connects to the exchange; again after it was restarted. */
  async connect(): Promise<void> {
    await this.#client?.close();
    const { url, accounts } = this.rig.exchange;
    const client = new ExchangeClient({
      addresses: { base: url },
      requestsPerSecond: MAX_REQUESTS_PER_SECOND,
      concurrency: 8,
      userAgent: BOTS_USER_AGENT,
    });
    const trading = accounts.map(
      ({ apiKey, apiSecret }) => new TradingClient(client, { apiKey: new ApiKey(apiKey, new Secret(apiSecret)) }),
    );
    const [maker, taker] = trading;
    if (!maker || !taker) throw new Error('the exchange has too few accounts');
    this.#usdc = (await client.coins()).items.find(({ ticker }) => ticker === 'USDC')?.coinId ?? '';
    this.#category = (await client.categories()).items[0]?.slug ?? '';
    this.#client = client;
    this.#accounts = { maker, taker };
  }

  /** Opens an event and starts trading in it. */
  async open(title: string): Promise<TradedEvent> {
    const request = { title, category: this.#category, tags: [], markets: [{ name: title, chance: OPENING_CHANCE }] };
    const { id, outcomes } = JSON.parse(await this.rig.order('/events', request)) as ControlEvent;
    const [market] = outcomes;
    if (!market) throw new Error('the event has no market');
    const event = { eventId: id, ...market };
    this.events.push(event);
    this.#loops.push(this.#tradeUntilEnd(event));
    return event;
  }

  /** Stops trading in the event until `resume`; resolves when no order is under way. */
  async pause({ eventId }: TradedEvent): Promise<void> {
    this.#paused.set(eventId, (this.#paused.get(eventId) ?? 0) + 1);
    await this.#trading.get(eventId);
  }

  resume({ eventId }: TradedEvent): void {
    this.#paused.set(eventId, Math.max(0, (this.#paused.get(eventId) ?? 0) - 1));
  }

  /** One fill in an empty book: two changes of the order book, and one of the chance. */
  async trade(event: TradedEvent): Promise<void> {
    const cents = this.#random.integer(10, 90);
    await this.accounts.maker.placeLimitOrder(this.#order(event, 'noId', 100 - cents));
    await this.accounts.taker.placeLimitOrder(this.#order(event, 'yesId', cents));
  }

  /** One change of the order book alone: a bid below every trade, which `cancel` removes. */
  async bid(event: TradedEvent): Promise<() => Promise<void>> {
    const { maker } = this.accounts;
    const { orderId } = await maker.placeLimitOrder(this.#order(event, 'yesId', this.#random.integer(1, 9)));
    return () => maker.cancelOrder(orderId);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#loops);
    await this.#client?.close();
  }

  private get accounts() {
    if (!this.#accounts) throw new Error('the market is not connected');
    return this.#accounts;
  }

  #order({ eventId, marketId, ...assets }: TradedEvent, asset: 'yesId' | 'noId', cents: number) {
    const target: OrderTarget = { eventId, marketId, assetId: assets[asset], quoteAssetId: this.#usdc };
    return { ...target, side: 'BUY', price: (cents / 100).toFixed(2), quantity: QUANTITY } as const;
  }

  async #tradeUntilEnd(event: TradedEvent): Promise<void> {
    const { signal } = this.#ending;
    for (;;) {
      const ms = this.#random.integer(MIN_INTERVAL_MS, MAX_INTERVAL_MS);
      await delay(ms, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      if ((this.#paused.get(event.eventId) ?? 0) > 0) continue;
      // The exchange may be killed: the next trade is a new one.
      const trading = this.trade(event).catch(() => undefined);
      this.#trading.set(event.eventId, trading);
      await trading;
    }
  }
}
