import type { ChancePoint } from './decode/chance-point.js';
import type { Event } from './decode/event.js';
import type { Category, Coin, Tag } from './decode/reference.js';
import type { DecodedList } from './decode/result.js';
import { SchemaError } from './errors/index.js';
import type { HttpResponse } from './http.js';
import type { RequestPriority } from './rate-limiter.js';
import { type ExchangeClientOptions, parseJson, Requester } from './requester.js';
import { categoriesOperation } from './rest/categories.js';
import { type ChanceHistoryQuery, chanceHistoryOperation } from './rest/chance-history.js';
import { coinsOperation } from './rest/coins.js';
import { type EventPageQuery, type EventQuery, searchEventsOperation } from './rest/events.js';
import { HistoryWalk } from './rest/history-walk.js';
import type { Operation } from './rest/operation.js';
import { PageWalk } from './rest/page-walk.js';
import { describeResponse, type RawResponse } from './rest/raw-response.js';
import { type PopularTagsQuery, popularTagsOperation } from './rest/tags.js';
import type { ServerTime } from './server-time.js';

/** A successful response: as received, and its body parsed. */
export interface JsonResponse extends RawResponse {
  readonly json: unknown;
}

/** The decoded list of a response, and the response itself. */
export interface ListResult<T> extends DecodedList<T> {
  readonly response: JsonResponse;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Called for the response of every attempt before it is processed, also for error statuses and truncated
   * responses.
   */
  readonly onResponse?: ((response: RawResponse) => void) | undefined;
  /** Which of the requests that wait for the rate limit is sent first. Default `normal`. */
  readonly priority?: RequestPriority | undefined;
}

export interface WalkOptions extends CallOptions {
  /** Number of items requested per page; default 100. The exchange may reduce it. */
  readonly pageSize?: number;
  /** The walk stops after this many pages; default 10,000. */
  readonly maxPages?: number;
}

/**
 * The exchange's public REST interface (part 4.5, and coins of part 4.3). Every call is rate-limited per host, retried
 * after transient failures, bounded in time and size, and can be aborted.
 *
 * Calls reject with `TransportError`, `HttpStatusError` or `SchemaError`; with `UsageError` for invalid parameters;
 * with the signal's reason when it is aborted.
 */
export class ExchangeClient {
  /** Sends the requests. Account and trading clients made with this client share its rate limit and its sockets. */
  readonly requester: Requester;

  /** @throws AddressError for an invalid address; UsageError for an invalid request rate */
  constructor(options: ExchangeClientOptions) {
    this.requester = new Requester(options);
  }

  /** The exchange's clock, learnt from responses to authorized requests: pass it to private streams. */
  get serverTime(): ServerTime {
    return this.requester.serverTime;
  }

  /** One page of event search, part 4.5. */
  searchEvents(query: EventPageQuery = {}, options: CallOptions = {}): Promise<ListResult<Event>> {
    return this.call(searchEventsOperation, query, options);
  }

  /**
   * All pages of event search, part 4.5, one by one; the walk's `report` says whether the list changed meanwhile.
   * Sorted by age by default, so that new events appear on the last page and move no others.
   */
  walkEvents(query: EventQuery = {}, options: WalkOptions = {}): PageWalk<Event, ListResult<Event>> {
    const { pageSize = 100, maxPages = 10_000, ...call } = options;
    const sorted: EventQuery = { sortBy: 'OLDEST', ...query };
    return new PageWalk<Event, ListResult<Event>>({
      fetch: (page) => this.searchEvents({ ...sorted, page, size: pageSize }, call),
      list: (answer) => answer,
      idOf: (event) => event.eventId,
      maxPages,
    });
  }

  /**
   * Event search, part 4.5, newest first, page by page up to the first known event: `items` of a page are its events that
   * are not known.
   */
  walkNewEvents(isKnown: (event: Event) => boolean, options: WalkOptions = {}): HistoryWalk<Event, ListResult<Event>> {
    const { pageSize = 20, maxPages = 10_000, ...call } = options;
    return new HistoryWalk<Event, ListResult<Event>>({
      fetch: (page) => this.searchEvents({ sortBy: 'NEWEST', page, size: pageSize }, call),
      idOf: (event) => event.eventId,
      isKnown,
      maxPages,
    });
  }

  /** The category tree, part 4.5, as a list in depth-first order. */
  categories(options: CallOptions = {}): Promise<ListResult<Category>> {
    return this.call(categoriesOperation, undefined, options);
  }

  /** Popular tags, part 4.5. */
  popularTags(query: PopularTagsQuery = {}, options: CallOptions = {}): Promise<ListResult<Tag>> {
    return this.call(popularTagsOperation, query, options);
  }

  /** All coins, part 4.3. */
  coins(options: CallOptions = {}): Promise<ListResult<Coin>> {
    return this.call(coinsOperation, undefined, options);
  }

  /** Chance history of one market, part 4.5; the first point is the anchor (see `chanceHistoryOperation`). */
  chanceHistory(query: ChanceHistoryQuery, options: CallOptions = {}): Promise<ListResult<ChancePoint>> {
    return this.call(chanceHistoryOperation, query, options);
  }

  /** Calls an operation and decodes its response. */
  async call<P, T>(operation: Operation<P, T>, params: P, options: CallOptions = {}): Promise<ListResult<T>> {
    const response = await this.request(operation, params, options);
    const decoded = operation.decode(response.json, params);
    if (!decoded.ok) {
      const { method, path } = response.request;
      throw new SchemaError(`${operation.name} ${method} ${path}`, decoded.path, decoded.reason);
    }
    return { ...decoded, response };
  }

  /** Calls an operation and returns its response, parsed as JSON but not decoded. Rate-limited and retried. */
  async request<P, T>(operation: Operation<P, T>, params: P, options: CallOptions = {}): Promise<JsonResponse> {
    const { name, method } = operation;
    const call = operation.buildRequest(params);
    const { path, query } = call;
    const onAnswer = (answer: HttpResponse, attempt: number) =>
      options.onResponse?.(describeResponse(operation, call, answer, attempt));
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const { value, answer, attempt } = await this.requester.send(
      { name, method, path, query, body, parse: parseJson, onAnswer, priority: options.priority },
      options.signal,
    );
    return { ...describeResponse(operation, call, answer, attempt), json: value };
  }

  /** Aborts all requests, including those of account and trading clients made with this one. May be called twice. */
  close(): Promise<void> {
    return this.requester.close();
  }
}
