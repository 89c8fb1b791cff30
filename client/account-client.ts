import { UsageError } from '../core/index.js';
import { authorizerOf, type Credentials } from './auth/authorizer.js';
import type { Activity, PositionStats, ProfileStats } from './decode/account/activity.js';
import { type ApiKeyInfo, decodeApiKeyInfo } from './decode/account/api-key.js';
import type { ActiveOrder, OrderRecord, TpslOrder, TradeRecord } from './decode/account/orders.js';
import type { OpenPosition } from './decode/account/positions.js';
import type { Balance, DepositAddress, Transaction } from './decode/account/wallet.js';
import type { DecodedList } from './decode/result.js';
import { HttpStatusError, SchemaError } from './errors/index.js';
import type { CallOptions, ExchangeClient, WalkOptions } from './exchange-client.js';
import type { HttpResponse } from './http.js';
import type { RequestPriority } from './rate-limiter.js';
import { parseJson } from './requester.js';
import { balancesOperation, fullBalancesOperation } from './rest/account/balances.js';
import {
  activityOperation,
  type OrderQuery,
  ordersOperation,
  type TradeQuery,
  tradesOperation,
} from './rest/account/history.js';
import { parseLosslessBody } from './rest/account/lossless-body.js';
import type { AccountOperation } from './rest/account/operation.js';
import type { PageQuery } from './rest/account/pages.js';
import { activeOrdersOperation, openPositionsOperation } from './rest/account/positions.js';
import { positionStatsOperation, profileStatsOperation, type UserQuery } from './rest/account/stats.js';
import { type TpslQuery, tpslOrdersOperation } from './rest/account/tpsl.js';
import { depositAddressOperation, transactionsOperation } from './rest/account/wallet.js';
import { HistoryWalk } from './rest/history-walk.js';
import { PageWalk } from './rest/page-walk.js';
import { describeResponse, type RawResponse } from './rest/raw-response.js';
import type { LosslessJson } from './wire/index.js';

/** A successful response to an account request: as received, and its body parsed with every number exact. */
export interface LosslessResponse extends RawResponse {
  readonly lossless: LosslessJson;
}

/** The decoded list of an account response, and the response itself. */
export interface AccountListResult<T> extends DecodedList<T> {
  readonly response: LosslessResponse;
}

/** The decoded record of an account response, and the response itself. */
export interface AccountRecordResult<T> {
  readonly value: T;
  readonly extraFields: readonly string[];
  readonly response: LosslessResponse;
}

export interface HistoryWalkOptions<T> extends WalkOptions {
  /** Whether an item, and every older one, is stored already: the walk stops there. */
  readonly isKnown?: ((item: T) => boolean) | undefined;
  /** The priority of the request of a page, instead of `priority`. */
  readonly priorityOf?: ((page: number) => RequestPriority) | undefined;
}

/**
 * Read-only access to an account (parts 4.1 to 4.4). Nothing is changed at the exchange, except that a `LoginSession`
 * logs in. To place orders or manage API keys, use `chancery/client/trading`.
 *
 * Amounts are `Decimal` texts, exactly as the exchange sent them; times are Unix microseconds. Requests are signed with
 * the exchange's time, taken from the `Date` headers of its responses: a wrong local clock costs one rejected request.
 *
 * Calls reject as those of `ExchangeClient`, with `UnauthorizedError` for 401 and `ForbiddenError` for 403, and with
 * `UsageError` when the credentials lack what the operation needs.
 */
export class AccountClient {
  /**
   * @param exchange sends the requests; accounts that are given the same client share its rate limit and its sockets
   * @param credentials API key, JWT, or both: each operation uses the one that it requires (part 5.2)
   */
  constructor(
    private readonly exchange: ExchangeClient,
    private readonly credentials: Credentials,
  ) {}

  /** `GET /api/user-balances`, part 4.3. */
  balances(options: CallOptions = {}): Promise<AccountListResult<Balance>> {
    return this.call(balancesOperation, undefined, options);
  }

  /** `GET /api/user-balances/full`, part 4.3. */
  fullBalances(options: CallOptions = {}): Promise<AccountListResult<Balance>> {
    return this.call(fullBalancesOperation, undefined, options);
  }

  /** One page of the open positions, part 4.4. Default page size 100. */
  openPositions(query: PageQuery = {}, options: CallOptions = {}): Promise<AccountListResult<OpenPosition>> {
    return this.call(openPositionsOperation, query, options);
  }

  /** All open positions; the report says whether the list changed while it was read. */
  walkOpenPositions(options: WalkOptions = {}): PageWalk<OpenPosition, AccountListResult<OpenPosition>> {
    return this.#snapshot(
      openPositionsOperation,
      ({ assetId, orderId }) => JSON.stringify([assetId, orderId]),
      options,
    );
  }

  /** One page of the orders in the book, part 4.4. Default page size 100. */
  activeOrders(query: PageQuery = {}, options: CallOptions = {}): Promise<AccountListResult<ActiveOrder>> {
    return this.call(activeOrdersOperation, query, options);
  }

  /** All active orders; the report says whether the list changed while it was read. */
  walkActiveOrders(options: WalkOptions = {}): PageWalk<ActiveOrder, AccountListResult<ActiveOrder>> {
    return this.#snapshot(activeOrdersOperation, (order) => order.orderId, options);
  }

  /** One page of the order history, part 4.4, newest first by default. Default page size 20. */
  orders(query: OrderQuery & PageQuery = {}, options: CallOptions = {}): Promise<AccountListResult<OrderRecord>> {
    return this.call(ordersOperation, query, options);
  }

  /** All orders, each once, also while new ones are placed. @throws UsageError for `isKnown` with `sort: 'asc'` */
  walkOrders(
    query: OrderQuery = {},
    options: HistoryWalkOptions<OrderRecord> = {},
  ): HistoryWalk<OrderRecord, AccountListResult<OrderRecord>> {
    if (query.sort === 'asc' && options.isKnown) {
      throw new UsageError('isKnown needs the newest order first; omit it, or use sort desc');
    }
    return this.#history(ordersOperation, query, (order) => order.orderId, options);
  }

  /** One page of the account's trades, part 4.4, newest first. Default page size 20. */
  trades(query: TradeQuery & PageQuery = {}, options: CallOptions = {}): Promise<AccountListResult<TradeRecord>> {
    return this.call(tradesOperation, query, options);
  }

  /** All trades, each once, also while new ones happen. */
  walkTrades(
    query: TradeQuery = {},
    options: HistoryWalkOptions<TradeRecord> = {},
  ): HistoryWalk<TradeRecord, AccountListResult<TradeRecord>> {
    return this.#history(tradesOperation, query, (trade) => trade.tradeRecordId, options);
  }

  /** One page of the trades of all users, part 4.4, newest first. Default page size 20. */
  activity(query: PageQuery = {}, options: CallOptions = {}): Promise<AccountListResult<Activity>> {
    return this.call(activityOperation, query, options);
  }

  /** All trades of all users, each once, also while new ones happen. */
  walkActivity(options: HistoryWalkOptions<Activity> = {}): HistoryWalk<Activity, AccountListResult<Activity>> {
    return this.#history(activityOperation, {}, (item) => item.tradeRecordId, options);
  }

  /** A user's profile and statistics, part 4.4. */
  profileStats(query: UserQuery, options: CallOptions = {}): Promise<AccountRecordResult<ProfileStats>> {
    return this.#record(profileStatsOperation, query, options);
  }

  /** Statistics of a user's positions, part 4.4. */
  positionStats(query: UserQuery, options: CallOptions = {}): Promise<AccountRecordResult<PositionStats>> {
    return this.#record(positionStatsOperation, query, options);
  }

  /** The take-profit/stop-loss orders of an asset, part 4.2. */
  tpslOrders(query: TpslQuery, options: CallOptions = {}): Promise<AccountListResult<TpslOrder>> {
    return this.call(tpslOrdersOperation, query, options);
  }

  /** One page of the account's transactions, part 4.3, newest first. Requires a JWT. */
  transactions(query: PageQuery = {}, options: CallOptions = {}): Promise<AccountListResult<Transaction>> {
    return this.call(transactionsOperation, query, options);
  }

  /** All transactions, each once, also while new ones happen. Requires a JWT. */
  walkTransactions(
    options: HistoryWalkOptions<Transaction> = {},
  ): HistoryWalk<Transaction, AccountListResult<Transaction>> {
    return this.#history(transactionsOperation, {}, (transaction) => transaction.transactionId, options);
  }

  /** The account's deposit address, part 4.3. Requires a JWT. Null when there is none yet (404). */
  depositAddress(options: CallOptions = {}): Promise<AccountRecordResult<DepositAddress> | null> {
    return this.#record(depositAddressOperation, undefined, options).catch(nullWhenMissing);
  }

  /** The active API key, without its secret (part 4.1). Requires a JWT. Null when there is none (404). */
  async apiKeyInfo(options: Pick<CallOptions, 'signal'> = {}): Promise<ApiKeyInfo | null> {
    const { requester } = this.exchange;
    const name = 'api-key';
    const authorizer = authorizerOf(this.credentials, 'jwt', requester.serverTime, name);
    const received = await requester
      .send({ name, method: 'GET', path: '/auth/api-key', authorizer, parse: parseJson }, options.signal)
      .catch(nullWhenMissing);
    if (received === null) return null;
    const info = decodeApiKeyInfo(received.value);
    if (!info.ok) throw new SchemaError('api-key GET /auth/api-key', info.path, info.reason);
    return info;
  }

  /** Calls an operation and decodes its response. */
  async call<P, T>(
    operation: AccountOperation<P, T>,
    params: P,
    options: CallOptions = {},
  ): Promise<AccountListResult<T>> {
    const response = await this.request(operation, params, options);
    const decoded = operation.decode(response.lossless);
    if (!decoded.ok) {
      const { method, path } = response.request;
      throw new SchemaError(`${operation.name} ${method} ${path}`, decoded.path, decoded.reason);
    }
    return { ...decoded, response };
  }

  /** Calls an operation and returns its response, parsed but not decoded. Rate-limited and retried. */
  async request<P, T>(
    operation: AccountOperation<P, T>,
    params: P,
    options: CallOptions = {},
  ): Promise<LosslessResponse> {
    const { requester } = this.exchange;
    const { name, method, authMethod: access } = operation;
    const authorizer = authorizerOf(this.credentials, access, requester.serverTime, name);
    const call = operation.buildRequest(params);
    const { path, query } = call;
    const onAnswer = (answer: HttpResponse, attempt: number) =>
      options.onResponse?.(describeResponse(operation, call, answer, attempt));
    const parse = (bytes: Buffer) => parseLosslessBody(bytes, `${name} ${method} ${path}`);
    const { value, answer, attempt } = await requester.send(
      { name, method, path, query, authorizer, parse, onAnswer, priority: options.priority },
      options.signal,
    );
    return { ...describeResponse(operation, call, answer, attempt), lossless: value };
  }

  async #record<P, T>(
    operation: AccountOperation<P, T>,
    params: P,
    options: CallOptions,
  ): Promise<AccountRecordResult<T>> {
    const { items, extraFields, response } = await this.call(operation, params, options);
    const [value] = items;
    if (value === undefined) throw new SchemaError(operation.name, '', 'it contains no record');
    return { value, extraFields, response };
  }

  #history<P, T>(
    operation: AccountOperation<P & PageQuery, T>,
    query: P,
    idOf: (item: T) => string,
    options: HistoryWalkOptions<T>,
  ): HistoryWalk<T, AccountListResult<T>> {
    const { pageSize: size = 100, maxPages = 10_000, isKnown, priorityOf, ...call } = options;
    const fetch = (page: number) =>
      this.call(operation, { ...query, page, size }, priorityOf ? { ...call, priority: priorityOf(page) } : call);
    return new HistoryWalk<T, AccountListResult<T>>({ fetch, idOf, isKnown, maxPages });
  }

  #snapshot<T>(
    operation: AccountOperation<PageQuery, T>,
    idOf: (item: T) => string,
    options: WalkOptions,
  ): PageWalk<T, AccountListResult<T>> {
    const { pageSize: size = 100, maxPages = 10_000, ...call } = options;
    const fetch = (page: number) => this.call(operation, { page, size }, call);
    return new PageWalk<T, AccountListResult<T>>({ fetch, list: (answer) => answer, idOf, maxPages, verify: true });
  }
}

function nullWhenMissing(error: unknown): null {
  if (error instanceof HttpStatusError && error.status === 404) return null;
  throw error;
}
