import type { ChancePoint } from './decode/chance-point.js';
import type { Event } from './decode/event.js';
import type { Category, Coin, Tag } from './decode/reference.js';
import type { DecodedList } from './decode/result.js';
import { SchemaError } from './errors/index.js';
import type { HttpResponse } from './http.js';
import { type ExchangeClientOptions, parseJson, Requester } from './requester.js';
import { categoriesOperation } from './rest/categories.js';
import { type ChanceHistoryQuery, chanceHistoryOperation } from './rest/chance-history.js';
import { coinsOperation } from './rest/coins.js';
import { type EventPageQuery, type EventQuery, searchEventsOperation } from './rest/events.js';
import type { Operation } from './rest/operation.js';
import { PageWalk } from './rest/page-walk.js';
import { describeResponse, type RawResponse } from './rest/raw-response.js';
import { type PopularTagsQuery, popularTagsOperation } from './rest/tags.js';
import type { ServerTime } from './server-time.js';

/** A successful answer: as it arrived, and its body parsed. */
export interface JsonResponse extends RawResponse {
  readonly json: unknown;
}

/** What was understood of an answer, and the answer. */
export interface ListResult<T> extends DecodedList<T> {
  readonly response: JsonResponse;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Called for every answer of every attempt, also those with an error status and those that did not come whole, before
   * anything else is done with it.
   */
  readonly onResponse?: ((response: RawResponse) => void) | undefined;
}

export interface WalkOptions extends CallOptions {
  /** Items asked for per page; default 100. The exchange may cut it. */
  readonly pageSize?: number;
  /** Pages read at most; default 10,000. */
  readonly maxPages?: number;
}

/**
 * The public REST part of the exchange (part 4.5, and coins of 4.3). Every call is paced per host, tried again when
 * that may help, bounded in time and size, and may be aborted.
 *
 * Calls reject with `TransportError`, `HttpStatusError` or `SchemaError`; with `UsageError` for parameters that cannot
 * be sent; with the signal's reason when it is aborted.
 */
export class ExchangeClient {
  /** What sends the requests: account and trading clients made with this client share its pacing and its sockets. */
  readonly requester: Requester;

  /** @throws AddressError for an address that may not be used */
  constructor(options: ExchangeClientOptions) {
    this.requester = new Requester(options);
  }

  /** The exchange's clock, as answers to authorized requests tell it: for private streams. */
  get serverTime(): ServerTime {
    return this.requester.serverTime;
  }

  /** One page of event search. */
  searchEvents(query: EventPageQuery = {}, options: CallOptions = {}): Promise<ListResult<Event>> {
    return this.call(searchEventsOperation, query, options);
  }

  /**
   * All pages of event search, one by one; `report` of what is answered says whether the pages held still. Sorted by
   * age unless the query says otherwise: then new events come on the last page and move no others.
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

  /** The category tree, as a list in depth-first order. */
  categories(options: CallOptions = {}): Promise<ListResult<Category>> {
    return this.call(categoriesOperation, undefined, options);
  }

  popularTags(query: PopularTagsQuery = {}, options: CallOptions = {}): Promise<ListResult<Tag>> {
    return this.call(popularTagsOperation, query, options);
  }

  coins(options: CallOptions = {}): Promise<ListResult<Coin>> {
    return this.call(coinsOperation, undefined, options);
  }

  /** Chance history of one market: the anchor first (see `chanceHistoryOperation`). */
  chanceHistory(query: ChanceHistoryQuery, options: CallOptions = {}): Promise<ListResult<ChancePoint>> {
    return this.call(chanceHistoryOperation, query, options);
  }

  /** Calls an operation and reads its answer. */
  async call<P, T>(operation: Operation<P, T>, params: P, options: CallOptions = {}): Promise<ListResult<T>> {
    const response = await this.request(operation, params, options);
    const decoded = operation.decode(response.json, params);
    if (!decoded.ok) {
      const { method, path } = response.request;
      throw new SchemaError(`${operation.name} ${method} ${path}`, decoded.path, decoded.reason);
    }
    return { ...decoded, response };
  }

  /** Calls an operation and answers what came, parsed as JSON but not read: paced, and tried again when that may help. */
  async request<P, T>(operation: Operation<P, T>, params: P, options: CallOptions = {}): Promise<JsonResponse> {
    const { name, method } = operation;
    const call = operation.buildRequest(params);
    const { path, query } = call;
    const onAnswer = (answer: HttpResponse, attempt: number) =>
      options.onResponse?.(describeResponse(operation, call, answer, attempt));
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const { value, answer, attempt } = await this.requester.send(
      { name, method, path, query, body, parse: parseJson, onAnswer },
      options.signal,
    );
    return { ...describeResponse(operation, call, answer, attempt), json: value };
  }

  /** Ends everything under way, also what account and trading clients made with this one do. May be called twice. */
  close(): Promise<void> {
    return this.requester.close();
  }
}
