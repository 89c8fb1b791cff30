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
import { RateLimiter } from './rate-limiter.js';
import { parseRetryAfter } from './retry-after.js';
import { ServerTime } from './server-time.js';

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

/** One request as it goes out. */
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
  /** What else must not be shown should the exchange repeat it. */
  readonly secrets?: readonly Secret[];
  /** False for what must not be sent twice: then every failure is the last. Default true. */
  readonly repeatable?: boolean;
  /** Reads a successful answer that may be parsed (`jsonExcess`); undefined when it is no JSON. */
  readonly parse: (bytes: Buffer) => { readonly value: J } | undefined;
  /** Called for every answer of every attempt before anything else is done with it, also when it did not come whole. */
  readonly onAnswer?: ((answer: HttpResponse, attempt: number) => void) | undefined;
}

/** A successful answer. */
export interface Received<J> {
  /** What `parse` read. */
  readonly value: J;
  readonly answer: HttpResponse;
  /** From 0. */
  readonly attempt: number;
}

/** Sends requests to the exchange's hosts: paced per host, authorized, and tried again when that may help. */
export class Requester {
  /** The exchange's clock, as answers to authorized requests tell it. */
  readonly serverTime: ServerTime;
  readonly #transport: HttpTransport;
  readonly #pacers = new Map<string, RateLimiter>();
  readonly #clock: Clock;

  /** @throws AddressError for an address that may not be used */
  constructor(private readonly options: ExchangeClientOptions) {
    checkAddresses(options.addresses);
    if (!(requestRate(options) > 0)) throw new UsageError('requestsPerSecond must be more than 0');
    this.#clock = options.clock ?? systemClock;
    this.serverTime = new ServerTime(this.#clock);
    this.#transport = new HttpTransport({
      timeoutMs: options.timeoutMs ?? 15_000,
      maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
      connections: options.concurrency ?? 4,
      clock: this.#clock,
    });
  }

  /** Resolves with the successful answer. Rejects as the clients say. */
  async send<J>(request: OutgoingRequest<J>, signal: AbortSignal | undefined): Promise<Received<J>> {
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

  /** Ends everything under way. May be called twice. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  /** One try, and a second one at once where the exchange refused credentials that can be made anew: a 401 does nothing. */
  async #attempt<J>(
    request: OutgoingRequest<J>,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<Received<J>> {
    const { authorizer } = request;
    if (!authorizer) return this.#inTurn(request, attempt, signal, {});
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
        return await this.#inTurn(request, attempt, signal, { headers });
      } catch (error) {
        if (again || !(error instanceof UnauthorizedError) || !worthAnotherTry?.()) throw error;
      }
    }
  }

  async #inTurn<J>(
    request: OutgoingRequest<J>,
    attempt: number,
    signal: AbortSignal | undefined,
    credentials: { readonly headers?: () => Readonly<Record<string, string>> },
  ): Promise<Received<J>> {
    const { name, method, body } = request;
    const { origin, path } = restUrl(this.options.addresses, request.path);
    const what = `${name} ${method} ${origin}${path}`;
    const pacer = this.#pacerOf(origin);
    return pacer.run(async (startedAtMs) => {
      const outgoing = { what, method, origin, target: path + queryText(request.query), body };
      const take = (received: HttpResponse): HttpResponse => {
        const answer = this.#taken(request, received, startedAtMs);
        request.onAnswer?.(answer, attempt);
        return answer;
      };
      const headers = credentials.headers?.();
      const answer = take(await this.#transport.send({ ...outgoing, headers, onTruncated: take }, signal));
      if (answer.status < 200 || answer.status > 299) {
        const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], this.#clock.nowMs());
        if (answer.status === 429) pacer.slowDown(startedAtMs, retryAfterMs);
        throw statusError(what, answer.status, errorOf(request, answer), retryAfterMs);
      }
      const excess = jsonExcess(answer.bytes);
      if (excess !== undefined) throw new TransportError('too-large', what, { detail: `it ${excess}` });
      const parsed = request.parse(answer.bytes);
      if (parsed === undefined) throw new TransportError('not-json', what);
      return { value: parsed.value, answer, attempt };
    }, signal);
  }

  /** The answer to an authorized request tells the time, and is shown without the credentials. */
  #taken<J>({ authorizer }: OutgoingRequest<J>, answer: HttpResponse, startedAtMs: number): HttpResponse {
    if (!authorizer) return answer;
    this.serverTime.observe(answer.headers['date'], startedAtMs, answer.receivedAtMicros / 1000);
    return { ...answer, bytes: redactBytes(answer.bytes, authorizer.secrets, answer.truncated !== undefined) };
  }

  #pacerOf(origin: string): RateLimiter {
    let pacer = this.#pacers.get(origin);
    if (!pacer) {
      pacer = new RateLimiter({
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

function queryText(query: RestRequest['query']): string {
  if (query === undefined) return '';
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.append(name, String(value));
  return `?${search}`;
}

function errorOf<J>(request: OutgoingRequest<J>, { bytes }: HttpResponse): RestError | undefined {
  const body = jsonExcess(bytes) === undefined ? parseJson(bytes) : undefined;
  const said = body === undefined ? undefined : decodeRestError(body.value);
  const secrets = [...(request.secrets ?? []), ...(request.authorizer?.secrets ?? [])];
  if (!said || secrets.length === 0) return said;
  const clean = (text: string | null) => (text === null ? null : redactText(text, secrets));
  return { status: said.status, error: clean(said.error), message: clean(said.message) };
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

/** A body parsed as JSON; undefined when it is none. */
export function parseJson(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(utf8.decode(bytes)) };
  } catch {
    return undefined;
  }
}
