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
  /** Ends the wait. A request that is on its way by then may be carried out all the same. */
  readonly signal?: AbortSignal | undefined;
}

export interface PlacedOrder {
  readonly orderId: string;
}

export interface PlacedTpsl {
  /** Null when the exchange does not say: the interface shows no body for this answer. */
  readonly tpslId: string | null;
}

const LOOK = 'look at the active orders, the order history or the order updates stream';

/**
 * Places and cancels orders (part 4.2), with an API key.
 *
 * **An order is sent once.** It is never repeated by itself: not after a timeout, a broken connection, a 5xx or a 429.
 * When it is not known whether it was placed, the call rejects with `OutcomeUnknownError`; look before placing it again.
 * The one exception is a 401 for a timestamp outside the window, which places nothing: it is signed anew with the
 * exchange's time and sent a second time. A `TransportError` means that nothing was sent; a `SchemaError`, that the
 * order was accepted but its ID is not in the answer. Any other status is an `HttpStatusError`: refused, not placed.
 *
 * Cancelling is repeated when that may help, since it does no more the second time. Then a 404 says only that the order
 * is not active any more: the first try may have cancelled it.
 *
 * Nothing here can be recorded: no answer is handed out as it came.
 */
export class TradingClient {
  /** @param exchange sends the requests; its pacing counts */
  constructor(
    private readonly exchange: ExchangeClient,
    private readonly credentials: Pick<Credentials, 'apiKey'>,
  ) {}

  /**
   * `POST /orders/limit`: an order that stays in the book until it is filled or cancelled. Sent once, see the class.
   * @throws UsageError for an order that the interface does not allow, before anything is sent
   */
  async placeLimitOrder(order: LimitOrder, options: TradingOptions = {}): Promise<PlacedOrder> {
    const text = stringifyLossless(limitOrderBody(order));
    return placementOf('limit-order', await this.#place('limit-order', '/orders/limit', text, parseJson, options));
  }

  /**
   * `POST /orders/market`: executes at once at the best available price. Sent once, see the class.
   * @throws UsageError for an order that the interface does not allow, before anything is sent
   */
  async placeMarketOrder(order: MarketOrder, options: TradingOptions = {}): Promise<PlacedOrder> {
    const text = stringifyLossless(marketOrderBody(order));
    return placementOf('market-order', await this.#place('market-order', '/orders/market', text, parseJson, options));
  }

  /** `DELETE /orders/limit/{orderId}`: takes an active order out of the book. Rejects with 404 when it is not active. */
  cancelOrder(orderId: string, options: TradingOptions = {}): Promise<void> {
    return this.#cancel('cancel-order', `/orders/limit/${segment('orderId', orderId)}`, options);
  }

  /**
   * `POST /orders/tpsl`: closes a position when its price reaches one of the two. Sent once, see the class.
   * @throws UsageError for an order that the interface does not allow, before anything is sent
   */
  async placeTpsl(order: TpslOrderRequest, options: TradingOptions = {}): Promise<PlacedTpsl> {
    const text = stringifyLossless(tpslOrderBody(order));
    const parse = (bytes: Buffer) => parseJson(bytes) ?? { value: undefined };
    const placed = placementSchema.safeParse(await this.#place('tpsl-order', '/orders/tpsl', text, parse, options));
    return { tpslId: placed.success ? placed.data.i : null };
  }

  /** `DELETE /orders/tpsl/{tpslId}`. */
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
    return sendOnce(`${name} POST ${path}`, LOOK, async () => (await requester.send(request, signal)).value);
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
