import { type Clock, type RestRequest, retry, systemClock, UsageError } from '../core/index.js';
import { checkAddresses, type ExchangeAddresses, restUrl } from './addresses.js';
import type { ChancePoint } from './decode/chance-point.js';
import type { Event } from './decode/event.js';
import type { Category, Coin, Tag } from './decode/reference.js';
import { decodeRestError } from './decode/rest-error.js';
import type { DecodedList } from './decode/result.js';
import { HttpStatusError, SchemaError, TransportError } from './errors/index.js';
import { type HttpAnswer, type HttpRequest, HttpTransport } from './http.js';
import { Pacer } from './pacing.js';
import { categoriesOperation } from './rest/categories.js';
import { type ChanceHistoryQuery, chanceHistoryOperation } from './rest/chance-history.js';
import { coinsOperation } from './rest/coins.js';
import { type EventPageQuery, type EventQuery, searchEventsOperation } from './rest/events.js';
import type { Call, Operation } from './rest/operation.js';
import { PageWalk } from './rest/page-walk.js';
import { type PopularTagsQuery, popularTagsOperation } from './rest/tags.js';
import { parseRetryAfter } from './retry-after.js';

export interface ExchangeClientOptions {
  readonly addresses: ExchangeAddresses;
  /** Requests per second and host, at most. Default 20. */
  readonly requestsPerSecond?: number;
  /** Requests under way at once per host. Default 4. */
  readonly concurrency?: number;
  /** Longest wait for one answer, milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
  /** Largest accepted body, bytes. Default 64 MiB. */
  readonly maxBodyBytes?: number;
  /** How often a request is tried in all. Default 5. */
  readonly attempts?: number;
  /** Bound of the first wait before another try, and of any wait, milliseconds. Defaults 200 and 10,000. */
  readonly retryBaseMs?: number;
  readonly retryCapMs?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** What is known of an answer as it arrived: enough for a raw record, and without secrets. */
export interface RawResponse {
  readonly status: number;
  /** `content-type`, `content-length`, `date` and `retry-after`, where they came. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the last byte had arrived, Unix microseconds. */
  readonly receivedAtMicros: number;
  /** The body, byte for byte. */
  readonly bytes: Buffer;
  /** What was asked, as raw records say it; the poll it belongs to is the asker's to add. */
  readonly request: Omit<RestRequest, 'poll'>;
}

/** A successful answer: as it arrived, and its body parsed. */
export interface JsonResponse extends RawResponse {
  readonly json: unknown;
}

/** What was understood of an answer, and the answer. */
export interface Answer<T> extends DecodedList<T> {
  readonly response: JsonResponse;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called for every answer of every attempt, also those with an error status, before anything else is done with it. */
  readonly onResponse?: ((response: RawResponse) => void) | undefined;
}

export interface WalkOptions extends CallOptions {
  /** Items asked for per page; default 100. The exchange may cut it. */
  readonly pageSize?: number;
  /** Pages read at most; default 10,000. */
  readonly maxPages?: number;
}

const KEPT_HEADERS = ['content-type', 'content-length', 'date', 'retry-after'] as const;

/**
 * The public REST part of the exchange (part 4.5, and coins of 4.3). Every call is paced per host, tried again when
 * that may help, bounded in time and size, and may be aborted.
 *
 * Calls reject with `TransportError`, `HttpStatusError` or `SchemaError`; with `UsageError` for parameters that cannot
 * be sent; with the signal's reason when it is aborted.
 */
export class ExchangeClient {
  readonly #transport: HttpTransport;
  readonly #pacers = new Map<string, Pacer>();
  readonly #clock: Clock;

  /** @throws AddressError for an address that may not be used */
  constructor(private readonly options: ExchangeClientOptions) {
    checkAddresses(options.addresses);
    if (!(requestRate(options) > 0)) throw new UsageError('requestsPerSecond must be more than 0');
    this.#clock = options.clock ?? systemClock;
    this.#transport = new HttpTransport({
      timeoutMs: options.timeoutMs ?? 15_000,
      maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
      connections: options.concurrency ?? 4,
      clock: this.#clock,
    });
  }

  /** One page of event search. */
  searchEvents(query: EventPageQuery = {}, options: CallOptions = {}): Promise<Answer<Event>> {
    return this.call(searchEventsOperation, query, options);
  }

  /**
   * All pages of event search, one by one; `report` of what is answered says whether the pages held still. Sorted by
   * age unless the query says otherwise: then new events come on the last page and move no others.
   */
  walkEvents(query: EventQuery = {}, options: WalkOptions = {}): PageWalk<Event, Answer<Event>> {
    const { pageSize = 100, maxPages = 10_000, ...call } = options;
    const sorted: EventQuery = { sortBy: 'OLDEST', ...query };
    return new PageWalk<Event, Answer<Event>>({
      fetch: (page) => this.searchEvents({ ...sorted, page, size: pageSize }, call),
      list: (answer) => answer,
      idOf: (event) => event.eventId,
      maxPages,
    });
  }

  /** The category tree, as a list in depth-first order. */
  categories(options: CallOptions = {}): Promise<Answer<Category>> {
    return this.call(categoriesOperation, undefined, options);
  }

  popularTags(query: PopularTagsQuery = {}, options: CallOptions = {}): Promise<Answer<Tag>> {
    return this.call(popularTagsOperation, query, options);
  }

  coins(options: CallOptions = {}): Promise<Answer<Coin>> {
    return this.call(coinsOperation, undefined, options);
  }

  /** Chance history of one market: the anchor first (see `chanceHistoryOperation`). */
  chanceHistory(query: ChanceHistoryQuery, options: CallOptions = {}): Promise<Answer<ChancePoint>> {
    return this.call(chanceHistoryOperation, query, options);
  }

  /** Calls an operation and reads its answer. */
  async call<P, T>(operation: Operation<P, T>, params: P, options: CallOptions = {}): Promise<Answer<T>> {
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
    const call = operation.call(params);
    const { origin, path } = restUrl(this.options.addresses, call.path);
    const request: HttpRequest = {
      what: `${operation.name} ${operation.method} ${origin}${path}`,
      method: operation.method,
      origin,
      target: path + queryText(call.query),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    };
    const pacer = this.#pacerOf(origin);
    return retry((attempt) => this.#attempt(operation, call, request, pacer, attempt, options), {
      attempts: this.options.attempts ?? 5,
      baseMs: this.options.retryBaseMs ?? 200,
      capMs: this.options.retryCapMs ?? 10_000,
      clock: this.#clock,
      signal: options.signal,
      atLeastMs: (error) => (error instanceof HttpStatusError ? error.retryAfterMs : undefined),
      ...(this.options.random ? { random: this.options.random } : {}),
    });
  }

  /** Ends everything under way. May be called twice. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  async #attempt<P, T>(
    operation: Operation<P, T>,
    call: Call,
    request: HttpRequest,
    pacer: Pacer,
    attempt: number,
    options: CallOptions,
  ): Promise<JsonResponse> {
    return pacer.run(async (startedAtMs) => {
      const answer = await this.#transport.send(request, options.signal);
      const raw = describe(operation, call, answer, attempt);
      options.onResponse?.(raw);
      if (answer.status < 200 || answer.status > 299) {
        const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], this.#clock.nowMs());
        if (answer.status === 429) pacer.slowDown(startedAtMs, retryAfterMs);
        const body = parseJson(answer.bytes);
        throw new HttpStatusError(
          request.what,
          answer.status,
          body === undefined ? undefined : decodeRestError(body.value),
          retryAfterMs,
        );
      }
      const body = parseJson(answer.bytes);
      if (body === undefined) throw new TransportError('not-json', request.what);
      return { ...raw, json: body.value };
    }, options.signal);
  }

  #pacerOf(origin: string): Pacer {
    let pacer = this.#pacers.get(origin);
    if (!pacer) {
      pacer = new Pacer({
        requestsPerSecond: requestRate(this.options),
        concurrency: this.options.concurrency ?? 4,
        clock: this.#clock,
      });
      this.#pacers.set(origin, pacer);
    }
    return pacer;
  }
}

const requestRate = (options: ExchangeClientOptions): number => options.requestsPerSecond ?? 20;

function describe<P, T>(operation: Operation<P, T>, call: Call, answer: HttpAnswer, attempt: number): RawResponse {
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = answer.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const { status, receivedAtMicros, bytes } = answer;
  const request = {
    operation: operation.name,
    method: operation.method,
    path: call.path,
    ...(call.query === undefined ? {} : { query: call.query }),
    ...(call.body === undefined ? {} : { body: call.body }),
    status,
    attempt,
    ...call.about,
  };
  return { status, headers, receivedAtMicros, bytes, request };
}

function queryText(query: Call['query']): string {
  if (query === undefined) return '';
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.append(name, String(value));
  return `?${search}`;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(utf8.decode(bytes)) };
  } catch {
    return undefined;
  }
}
