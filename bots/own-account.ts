import {
  type ApiKey,
  BalanceStream,
  type BalanceStreamMessage,
  type ExchangeAddresses,
  type OrderStreamMessage,
  OrderUpdateStream,
  type ServerTime,
} from '../client/index.js';
import { BOTS_USER_AGENT } from '../core/index.js';
import type { Quotes } from './market.js';
import { OwnOrders } from './own-orders.js';
import { SOCKET_TIMES } from './socket-times.js';
import { hundredthsOf, microsOf } from './units.js';

interface Holding {
  /** Hundredths of a share. */
  readonly balance: number;
  /** What no order holds. */
  readonly free: number;
}

interface OwnAccountOptions {
  readonly addresses: ExchangeAddresses;
  readonly apiKey: ApiKey;
  readonly serverTime: ServerTime;
  readonly quotes: Quotes;
  /** The coin ID of USDC. */
  readonly usdcId: () => string | undefined;
}

/**
 * A bot's view of its own account: balances, orders and TP/SL orders, from its two private streams and its own requests.
 * `outOfSync` says that the view may have missed a change.
 */
export class OwnAccount {
  readonly orders = new OwnOrders();
  /** Active TP/SL orders: the asset of each. */
  readonly tpsl = new Map<string, string>();
  outOfSync = true;
  readonly #balanceStream: BalanceStream;
  readonly #orderStream: OrderUpdateStream;
  readonly #holdings = new Map<string, Holding>();
  /** Orders that only the stream, or only an answer, has named so far. */
  readonly #announced = new Set<string>();
  readonly #answered = new Set<string>();
  #freeMicros = 0;
  #known = false;

  constructor(private readonly options: OwnAccountOptions) {
    const { addresses, apiKey, serverTime } = options;
    const shared = { addresses, apiKey, serverTime, ...SOCKET_TIMES, userAgent: BOTS_USER_AGENT };
    const onDisconnected = () => {
      this.outOfSync = true;
    };
    this.#balanceStream = new BalanceStream({
      ...shared,
      onDisconnected: () => {
        onDisconnected();
        this.#known = false;
      },
      onMessage: (message) => this.#onBalance(message),
    });
    this.#orderStream = new OrderUpdateStream({
      ...shared,
      onDisconnected,
      onMessage: (message) => this.#onOrder(message),
    });
  }

  start(signal: AbortSignal): void {
    this.#balanceStream.start(signal);
    this.#orderStream.start(signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.#balanceStream.close(), this.#orderStream.close()]);
  }

  /** Both streams are authorized and the balances are known. */
  get ready(): boolean {
    return this.#known && this.#orderStream.authorized;
  }

  /** Whether the stream named orders that no answer did. Valid while no placement is under way. */
  get hasUnknownOrders(): boolean {
    return this.#announced.size > 0;
  }

  /** USDC that no order holds, micros. */
  get freeMicros(): number {
    return this.#freeMicros;
  }

  /** Hundredths of a share that no order holds. */
  freeShares(assetId: string): number {
    return this.#holdings.get(assetId)?.free ?? 0;
  }

  /** Outcome assets that have free shares. */
  get freeAssets(): string[] {
    return [...this.#holdings].filter(([, { free }]) => free > 0).map(([assetId]) => assetId);
  }

  /** A SELL order was accepted: locks its shares before the stream's update arrives. */
  hold(assetId: string, quantity: number): void {
    const held = this.#holdings.get(assetId);
    if (held) this.#holdings.set(assetId, { ...held, free: Math.max(0, held.free - quantity) });
  }

  /** An answer named an order, so the stream's update of it is expected. */
  answered(orderId: string): void {
    if (!this.#announced.delete(orderId)) this.#answered.add(orderId);
  }

  /** The view was compared with the exchange's lists. */
  reconciled(): void {
    this.outOfSync = false;
    this.#announced.clear();
    this.#answered.clear();
  }

  #onBalance(message: BalanceStreamMessage | { readonly type: 'invalid' }): void {
    if (message.type === 'balances') {
      this.#holdings.clear();
      for (const { assetId, balance, free } of message.balances) this.#take(assetId, balance, free ?? balance);
      this.#known = true;
    } else if (message.type === 'balance-update') {
      const { assetId, balance, free } = message;
      const before = this.#holdings.get(assetId)?.balance ?? 0;
      this.#take(assetId, balance, free ?? balance);
      const change = (this.#holdings.get(assetId)?.balance ?? 0) - before;
      const market = change === 0 ? undefined : this.options.quotes.ofAsset(assetId);
      if (market) this.orders.filled(market.marketId, assetId, change > 0 ? 'BUY' : 'SELL', Math.abs(change));
    }
  }

  #take(assetId: string, balance: string, free: string): void {
    if (assetId === this.options.usdcId()) this.#freeMicros = microsOf(free);
    else if (Number(balance) === 0) this.#holdings.delete(assetId);
    else this.#holdings.set(assetId, { balance: hundredthsOf(balance), free: hundredthsOf(free) });
  }

  #onOrder(message: OrderStreamMessage | { readonly type: 'invalid' }): void {
    if (message.type === 'order-update') {
      const { orderId, status } = message;
      if (!this.#answered.delete(orderId) && status !== 'FAILED') this.#announced.add(orderId);
    } else if (message.type === 'tpsl-update') {
      const { tpslId, assetId, status } = message;
      if (status === 'ACTIVE' && assetId !== null) this.tpsl.set(tpslId, assetId);
      else this.tpsl.delete(tpslId);
    }
  }
}
