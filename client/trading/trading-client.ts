import { authorizerOf, type Credentials } from '../auth/authorizer.js';
import { SchemaError } from '../errors/index.js';
import type { ExchangeClient } from '../exchange-client.js';
import { parseJson } from '../requester.js';
import { segment } from '../rest/params.js';
import { explainIssue, placementSchema, stringifyLossless } from '../wire/index.js';
import {
  type LimitOrder,
  limitOrderBody,
  type MarketOrder,
  marketOrderBody,
  type TpslOrderRequest,
  tpslOrderBody,
} from './order-requests.js';
import { sendOnce } from './send-once.js';

export interface TradingOptions {
  /** Aborts the call. A request that was already sent may still take effect. */
  readonly signal?: AbortSignal | undefined;
}

export interface PlacedOrder {
  readonly orderId: string;
}

export interface PlacedTpsl {
  /** Null when the response contains no ID: the interface does not describe its body. */
  readonly tpslId: string | null;
}

const HOW_TO_CHECK = 'check the active orders, the order history or the order updates stream';

/**
 * Places and cancels orders (part 4.2); requires an API key.
 *
 * **An order is sent once.** It is not retried after a timeout, a broken connection, a 5xx or a 429. When it may or may not
 * have been placed, the call rejects with `OutcomeUnknownError`; check before placing it again. The only exception is a
 * 401 for a timestamp outside the window, which places nothing: the request is signed again with the exchange's time and
 * sent a second time. A `TransportError` means that nothing was sent; a `SchemaError`, that the order was accepted but the
 * response does not contain its ID. An `HttpStatusError` means that the order was rejected and not placed.
 *
 * Cancelling is idempotent, so it is retried after transient failures. A 404 after a retry means only that the order is
 * not active: the first attempt may have cancelled it.
 *
 * Raw responses are not available here, so that they cannot be recorded.
 */
export class TradingClient {
  /** @param exchange sends the requests, within its rate limit */
  constructor(
    private readonly exchange: ExchangeClient,
    private readonly credentials: Pick<Credentials, 'apiKey'>,
  ) {}

  /**
   * `POST /orders/limit`: an order that stays in the book until it is filled or cancelled. Sent once, see the class.
   * @throws UsageError for an invalid order, before anything is sent
   */
  async placeLimitOrder(order: LimitOrder, options: TradingOptions = {}): Promise<PlacedOrder> {
    const text = stringifyLossless(limitOrderBody(order));
    return placementOf('limit-order', await this.#place('limit-order', '/orders/limit', text, parseJson, options));
  }

  /**
   * `POST /orders/market`: executes immediately at the best available price. Sent once, see the class.
   * @throws UsageError for an invalid order, before anything is sent
   */
  async placeMarketOrder(order: MarketOrder, options: TradingOptions = {}): Promise<PlacedOrder> {
    const text = stringifyLossless(marketOrderBody(order));
    return placementOf('market-order', await this.#place('market-order', '/orders/market', text, parseJson, options));
  }

  /** `DELETE /orders/limit/{orderId}`: cancels an active order. Rejects with `HttpStatusError` 404 when it is not active. */
  cancelOrder(orderId: string, options: TradingOptions = {}): Promise<void> {
    return this.#cancel('cancel-order', `/orders/limit/${segment('orderId', orderId)}`, options);
  }

  /**
   * `POST /orders/tpsl`: closes a position when the price reaches the take-profit or stop-loss price. Sent once, see the class.
   * @throws UsageError for an invalid order, before anything is sent
   */
  async placeTpsl(order: TpslOrderRequest, options: TradingOptions = {}): Promise<PlacedTpsl> {
    const text = stringifyLossless(tpslOrderBody(order));
    const parse = (bytes: Buffer) => parseJson(bytes) ?? { value: undefined };
    const placed = placementSchema.safeParse(await this.#place('tpsl-order', '/orders/tpsl', text, parse, options));
    return { tpslId: placed.success ? placed.data.i : null };
  }

  /** `DELETE /orders/tpsl/{tpslId}`: cancels a TP/SL order. */
  cancelTpsl(tpslId: string, options: TradingOptions = {}): Promise<void> {
    return this.#cancel('cancel-tpsl', `/orders/tpsl/${segment('tpslId', tpslId)}`, options);
  }

  #place<J>(
    name: string,
    path: string,
    body: string,
    parse: (bytes: Buffer) => { readonly value: J } | undefined,
    { signal }: TradingOptions,
  ): Promise<J> {
    const { requester } = this.exchange;
    const authorizer = authorizerOf(this.credentials, 'api-key', requester.serverTime, name);
    const request = { name, method: 'POST', path, body, authorizer, repeatable: false, parse } as const;
    return sendOnce(`${name} POST ${path}`, HOW_TO_CHECK, async () => (await requester.send(request, signal)).value);
  }

  async #cancel(name: string, path: string, { signal }: TradingOptions): Promise<void> {
    const { requester } = this.exchange;
    const authorizer = authorizerOf(this.credentials, 'api-key', requester.serverTime, name);
    const parse = () => ({ value: undefined });
    await requester.send({ name, method: 'DELETE', path, authorizer, parse }, signal);
  }
}

function placementOf(name: string, body: unknown): PlacedOrder {
  const placed = placementSchema.safeParse(body);
  if (placed.success) return { orderId: placed.data.i };
  const { path, reason } = explainIssue(placed.error, body);
  throw new SchemaError(`${name}, which the exchange accepted`, path, reason);
}
