import {
  type Clock,
  type ExchangeAddresses,
  jsonExcess,
  type RestRequest,
  retry,
  type Secret,
  systemClock,
  UsageError,
} from '../core/index.js';
import { checkAddresses, restUrl } from './addresses.js';
import type { Authorizer } from './auth/authorizer.js';
import { redactBytes, redactText } from './auth/redact.js';
import { decodeRestError, type RestError } from './decode/rest-error.js';
import { HttpStatusError, statusError, TransportError, UnauthorizedError } from './errors/index.js';
import { type HttpResponse, HttpTransport } from './http.js';
import { LargeBodies, type LargeBodyTurn } from './large-bodies.js';
import { RateLimiter, type RequestPriority } from './rate-limiter.js';
import { parseRetryAfter } from './retry-after.js';
import { ServerTime } from './server-time.js';

export interface ExchangeClientOptions {
  readonly addresses: ExchangeAddresses;
  /** Maximum requests per second and host. Default 20. */
  readonly requestsPerSecond?: number;
  /** Maximum concurrent requests per host. Default 4. */
  readonly concurrency?: number;
  /** Maximum time for one response, milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
  /** Maximum body size, bytes. Default 64 MiB. */
  readonly maxBodyBytes?: number;
  /** Bodies over 4 MiB are received one at a time; the rest of each one waits until this resolves. */
  readonly beforeLargeBody?: () => Promise<void>;
  /** Maximum attempts per request. Default 5. */
  readonly attempts?: number;
  /** Upper bound of the first delay between attempts, milliseconds. Default 200. */
  readonly retryBaseMs?: number;
  /** Upper bound of every delay between attempts, milliseconds. Default 10,000. */
  readonly retryCapMs?: number;
  /** Default: `chancery`. */
  readonly userAgent?: string;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** One request to send. */
export interface OutgoingRequest<J> {
  /** Name of the operation, for error messages. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path of the interface, percent-encoded, without query. */
  readonly path: string;
  readonly query?: RestRequest['query'] | undefined;
  /** The exact text of the body. */
  readonly body?: string | undefined;
  readonly authorizer?: Authorizer | undefined;
  /** Further secrets to remove from error messages, should the exchange repeat them. */
  readonly secrets?: readonly Secret[];
  /** False for a request that must not be sent twice: it is never retried. Default true. */
  readonly repeatable?: boolean;
  /** Default `normal`. */
  readonly priority?: RequestPriority | undefined;
  /** Parses a successful response within the limits of `jsonExcess`; undefined when it is not JSON. */
  readonly parse: (bytes: Buffer) => { readonly value: J } | undefined;
  /** Called for the response of every attempt before it is processed, also when it is truncated. */
  readonly onAnswer?: ((answer: HttpResponse, attempt: number) => void) | undefined;
}

/** A successful response. */
export interface ReceivedResponse<J> {
  /** The result of `parse`. */
  readonly value: J;
  readonly answer: HttpResponse;
  /** From 0. */
  readonly attempt: number;
}

/** Sends requests to the exchange's hosts: rate-limited per host, authorized, and retried after transient failures. */
export class Requester {
  /** The exchange's clock, learnt from responses to authorized requests. */
  readonly serverTime: ServerTime;
  readonly #transport: HttpTransport;
  readonly #largeBodies: LargeBodies;
  readonly #rateLimiters = new Map<string, RateLimiter>();
  readonly #clock: Clock;

  /** @throws AddressError for an invalid address; UsageError for an invalid request rate */
  constructor(private readonly options: ExchangeClientOptions) {
    checkAddresses(options.addresses);
    if (!(requestRate(options) > 0)) throw new UsageError('requestsPerSecond must be more than 0');
    this.#clock = options.clock ?? systemClock;
    this.serverTime = new ServerTime(this.#clock);
    this.#largeBodies = new LargeBodies(options.beforeLargeBody);
    this.#transport = new HttpTransport({
      timeoutMs: options.timeoutMs ?? 15_000,
      maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
      connections: options.concurrency ?? 4,
      userAgent: options.userAgent,
      clock: this.#clock,
    });
  }

  /** Resolves with the successful response. Rejects as the clients document. */
  async send<J>(request: OutgoingRequest<J>, signal: AbortSignal | undefined): Promise<ReceivedResponse<J>> {
    return retry((attempt) => this.#attempt(request, attempt, signal), {
      attempts: request.repeatable === false ? 1 : (this.options.attempts ?? 5),
      baseMs: this.options.retryBaseMs ?? 200,
      capMs: this.options.retryCapMs ?? 10_000,
      clock: this.#clock,
      signal,
      atLeastMs: (error) => (error instanceof HttpStatusError ? error.retryAfterMs : undefined),
      ...(this.options.random ? { random: this.options.random } : {}),
    });
  }

  /** Aborts all requests. May be called twice. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  /** One attempt, repeated once after a 401 when new credentials may be accepted: a refused request had no effect. */
  async #attempt<J>(
    request: OutgoingRequest<J>,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<ReceivedResponse<J>> {
    const { authorizer } = request;
    if (!authorizer) return this.#sendRateLimited(request, attempt, signal, {});
    for (let again = false; ; again = true) {
      await authorizer.prepare(signal);
      const { method, path, body = '' } = request;
      let worthAnotherTry: (() => boolean) | undefined;
      const headers = () => {
        const authorization = authorizer.authorize({ method, path, body });
        worthAnotherTry = authorization.mayRetry;
        return authorization.headers;
      };
      try {
        return await this.#sendRateLimited(request, attempt, signal, { headers });
      } catch (error) {
        if (again || !(error instanceof UnauthorizedError) || !worthAnotherTry?.()) throw error;
      }
    }
  }

  async #sendRateLimited<J>(
    request: OutgoingRequest<J>,
    attempt: number,
    signal: AbortSignal | undefined,
    credentials: { readonly headers?: () => Readonly<Record<string, string>> },
  ): Promise<ReceivedResponse<J>> {
    const { name, method, body } = request;
    const { origin, path } = restUrl(this.options.addresses, request.path);
    const what = `${name} ${method} ${origin}${path}`;
    const rateLimiter = this.#rateLimiterOf(origin);
    const work = async (startedAtMs: number, largeBody: LargeBodyTurn): Promise<ReceivedResponse<J>> => {
      const sentAtMs = this.#clock.nowMs();
      const outgoing = { what, method, origin, target: path + queryText(request.query), body, largeBody };
      const take = (received: HttpResponse): HttpResponse => {
        const answer = this.#processed(request, received, sentAtMs);
        request.onAnswer?.(answer, attempt);
        return answer;
      };
      const headers = credentials.headers?.();
      const answer = take(await this.#transport.send({ ...outgoing, headers, onTruncated: take }, signal));
      if (answer.status < 200 || answer.status > 299) {
        const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], this.#clock.nowMs());
        if (answer.status === 429) rateLimiter.slowDown(startedAtMs, retryAfterMs);
        throw statusError(what, answer.status, errorOf(request, answer), retryAfterMs);
      }
      const excess = jsonExcess(answer.bytes);
      if (excess !== undefined) throw new TransportError('too-large', what, { detail: `it ${excess}` });
      const parsed = request.parse(answer.bytes);
      if (parsed === undefined) throw new TransportError('not-json', what);
      return { value: parsed.value, answer, attempt };
    };
    const alone = async (startedAtMs: number): Promise<ReceivedResponse<J>> => {
      const turn = this.#largeBodies.turn();
      try {
        return await work(startedAtMs, turn);
      } finally {
        turn.end();
      }
    };
    return rateLimiter.run(alone, signal, request.priority);
  }

  /** Learns the exchange's time from the response to an authorized request, and removes the credentials from its body. */
  #processed<J>({ authorizer }: OutgoingRequest<J>, answer: HttpResponse, sentAtMs: number): HttpResponse {
    if (!authorizer) return answer;
    this.serverTime.observe(answer.headers['date'], sentAtMs, answer.receivedAtMicros / 1000);
    return { ...answer, bytes: redactBytes(answer.bytes, authorizer.secrets, answer.truncated !== undefined) };
  }

  #rateLimiterOf(origin: string): RateLimiter {
    let rateLimiter = this.#rateLimiters.get(origin);
    if (!rateLimiter) {
      rateLimiter = new RateLimiter({
        requestsPerSecond: requestRate(this.options),
        concurrency: this.options.concurrency ?? 4,
        clock: this.#clock,
      });
      this.#rateLimiters.set(origin, rateLimiter);
    }
    return rateLimiter;
  }
}

const requestRate = (options: ExchangeClientOptions): number => options.requestsPerSecond ?? 20;

function queryText(query: RestRequest['query']): string {
  if (query === undefined) return '';
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.append(name, String(value));
  return `?${search}`;
}

function errorOf<J>(request: OutgoingRequest<J>, { bytes }: HttpResponse): RestError | undefined {
  const body = jsonExcess(bytes) === undefined ? parseJson(bytes) : undefined;
  const error = body === undefined ? undefined : decodeRestError(body.value);
  const secrets = [...(request.secrets ?? []), ...(request.authorizer?.secrets ?? [])];
  if (!error || secrets.length === 0) return error;
  const clean = (text: string | null) => (text === null ? null : redactText(text, secrets));
  return { status: error.status, error: clean(error.error), message: clean(error.message) };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a body; undefined when it is not UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A body parsed as JSON; undefined when it is not JSON. */
export function parseJson(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(utf8.decode(bytes)) };
  } catch {
    return undefined;
  }
}
