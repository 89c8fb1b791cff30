import { type AccountClient, HttpStatusError, OutcomeUnknownError, SchemaError } from '../client/index.js';
import type { PlacedOrder, Side, TradingClient } from '../client/trading/index.js';
import { type Clock, isRetryable } from '../core/index.js';
import { assetOf, type Outcome, type Quote, type Quotes } from './market.js';
import type { OwnAccount } from './own-account.js';
import type { OwnOrder, OwnOrders } from './own-orders.js';
import { reconcile } from './reconcile.js';
import { hundredthsText, microsText } from './units.js';

interface OrderGatewayOptions {
  readonly trading: TradingClient;
  readonly account: AccountClient;
  readonly own: OwnAccount;
  readonly quotes: Quotes;
  /** The coin ID of USDC. */
  readonly usdcId: () => string | undefined;
  readonly clock: Clock;
  /** The account is compared with the exchange's lists at least this often, milliseconds. */
  readonly reconcileEveryMs: number;
  readonly signal: AbortSignal;
}

/**
 * Places and cancels orders of one account, with the calls that any client has. After a request without an answer it first
 * reads the exchange's lists to learn whether it took effect; nothing is sent twice.
 */
export class OrderGateway {
  #market: OwnOrder | undefined;
  #reconciledAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: OrderGatewayOptions) {}

  get orders(): OwnOrders {
    return this.options.own.orders;
  }

  /** Active TP/SL orders, oldest first: the asset of each, by ID. */
  get tpsl(): ReadonlyMap<string, string> {
    return this.options.own.tpsl;
  }

  /** USDC that no order holds, micros. */
  get freeMicros(): number {
    return this.options.own.freeMicros;
  }

  /** Hundredths of a share that no order holds. */
  free(market: Quote, outcome: Outcome): number {
    return this.options.own.freeShares(assetOf(market, outcome));
  }

  /** Outcome assets that have free shares. */
  get freeAssets(): readonly string[] {
    return this.options.own.freeAssets;
  }

  /** Both private streams are authorized and USDC is known. */
  get ready(): boolean {
    return this.options.own.ready && this.options.usdcId() !== undefined;
  }

  /** Compares the account with the exchange's lists if it may be out of sync. Rejects when they cannot be read. */
  async reconcile(): Promise<void> {
    const { own, account, trading, quotes, clock, reconcileEveryMs, signal } = this.options;
    this.#forgetMarketOrder();
    const isOld = clock.nowMs() - this.#reconciledAtMs > reconcileEveryMs;
    if (!own.outOfSync && !own.hasUnknownOrders && !isOld) return;
    own.outOfSync = true;
    await reconcile({ own, account, trading, quotes, signal });
    this.#reconciledAtMs = clock.nowMs();
  }

  /** Price in cents, quantity in hundredths of a share; whether it was accepted. */
  async limit(market: Quote, outcome: Outcome, side: Side, price: number, quantity: number): Promise<boolean> {
    const order = orderIn(market, outcome, side, price, quantity);
    const request = { ...this.#target(order, market), side };
    const placed = await this.#place(order, (options) =>
      this.options.trading.placeLimitOrder(
        { ...request, price: hundredthsText(price), quantity: hundredthsText(quantity) },
        options,
      ),
    );
    if (placed && side === 'SELL') this.options.own.hold(order.assetId, quantity);
    return placed;
  }

  /** Spends up to an amount (micros); whether it was accepted. */
  buy(market: Quote, outcome: Outcome, amountMicros: number): Promise<boolean> {
    const order = orderIn(market, outcome, 'BUY', 99, Number.POSITIVE_INFINITY);
    const request = { ...this.#target(order, market), side: 'BUY', amount: microsText(amountMicros) } as const;
    return this.#placeAtMarket(order, (options) => this.options.trading.placeMarketOrder(request, options));
  }

  /** Sells up to a quantity (hundredths) at market; whether it was accepted. */
  sell(market: Quote, outcome: Outcome, quantity: number): Promise<boolean> {
    const order = orderIn(market, outcome, 'SELL', 1, Number.POSITIVE_INFINITY);
    const request = { ...this.#target(order, market), side: 'SELL', quantity: hundredthsText(quantity) } as const;
    return this.#placeAtMarket(order, (options) => this.options.trading.placeMarketOrder(request, options));
  }

  async cancel(order: OwnOrder): Promise<void> {
    const { orderId } = order;
    if (orderId === undefined) return;
    await this.options.trading.cancelOrder(orderId, { signal: this.options.signal }).catch(unlessNotActive);
    this.orders.remove(order);
  }

  /** Places a TP/SL order for shares (hundredths) with two prices (cents); whether it was accepted. */
  async protect(market: Quote, outcome: Outcome, quantity: number, takeProfit: number, stopLoss: number) {
    const assetId = assetOf(market, outcome);
    const { eventId, marketId } = market;
    const quoteAssetId = this.options.usdcId() ?? '';
    const prices = { takeProfitPrice: hundredthsText(takeProfit), stopLossPrice: hundredthsText(stopLoss) };
    const target = { eventId, marketId, assetId, quoteAssetId, outcome, quantity: hundredthsText(quantity) };
    const { trading, own, signal } = this.options;
    try {
      const { tpslId } = await trading.placeTpsl({ ...target, ...prices }, { signal });
      if (tpslId !== null) own.tpsl.set(tpslId, assetId);
      return true;
    } catch (error) {
      return this.#refused(error);
    }
  }

  async unprotect(tpslId: string): Promise<void> {
    await this.options.trading.cancelTpsl(tpslId, { signal: this.options.signal }).catch(unlessNotActive);
    this.options.own.tpsl.delete(tpslId);
  }

  async #placeAtMarket(order: OwnOrder, send: (options: { signal: AbortSignal }) => Promise<PlacedOrder>) {
    this.#forgetMarketOrder();
    this.#market = order;
    return this.#place(order, send);
  }

  async #place(order: OwnOrder, send: (options: { signal: AbortSignal }) => Promise<PlacedOrder>): Promise<boolean> {
    const { own, signal } = this.options;
    // It may be filled before the answer arrives, so it is recorded first.
    own.orders.add(order);
    try {
      const { orderId } = await send({ signal });
      own.answered(orderId);
      if (order !== this.#market) own.orders.name(order, orderId);
      return true;
    } catch (error) {
      own.orders.remove(order);
      return this.#refused(error);
    }
  }

  /** False when the exchange refused the order, so nothing was placed. Rethrows everything else. */
  #refused(error: unknown): false {
    if (error instanceof OutcomeUnknownError || error instanceof SchemaError) this.options.own.outOfSync = true;
    if (error instanceof HttpStatusError && !isRetryable(error)) return false;
    throw error;
  }

  /** Balance updates of a market order's fills may arrive after its answer, but before the next order is placed. */
  #forgetMarketOrder(): void {
    if (this.#market) this.orders.remove(this.#market);
    this.#market = undefined;
  }

  #target({ marketId, assetId }: OwnOrder, { eventId }: Quote) {
    return { eventId, marketId, assetId, quoteAssetId: this.options.usdcId() ?? '' };
  }
}

function orderIn(market: Quote, outcome: Outcome, side: Side, price: number, quantity: number): OwnOrder {
  const { marketId } = market;
  const assetId = assetOf(market, outcome);
  return { orderId: undefined, marketId, assetId, outcome, side, price, remaining: quantity };
}

/** A cancellation answered with 404: the order is not active any more. */
function unlessNotActive(error: unknown): void {
  if (!(error instanceof HttpStatusError && error.status === 404)) throw error;
}
