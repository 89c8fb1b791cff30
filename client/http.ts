import { setMaxListeners } from 'node:events';
import { Agent, type Dispatcher } from 'undici';
import { type Clock, USER_AGENT } from '../core/index.js';
import { connectionErrorCode, TransportError, type TransportErrorCode } from './errors/index.js';
import type { LargeBodyTurn } from './large-bodies.js';

export interface HttpRequest {
  /** Operation, method and URL, for error messages. */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Like `https://host:port`. */
  readonly origin: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** The exact text of the body. */
  readonly body?: string | undefined;
  /** Additional headers: credentials. They are sent and never logged or recorded. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Needed for a body over 4 MiB; without it, a response has no limit but its maximum size. */
  readonly largeBody?: LargeBodyTurn;
  /** Called with the received part of a truncated response before the call rejects. */
  readonly onTruncated?: ((answer: HttpResponse) => void) | undefined;
}

/** Why a response is truncated. */
export type TruncationCause = Extract<TransportErrorCode, 'broken-off' | 'timeout' | 'too-large'>;

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; of a repeated header, the first. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the last byte of the body was received, Unix microseconds. */
  readonly receivedAtMicros: number;
  /** The body, byte for byte. */
  readonly bytes: Buffer;
  /** Why `bytes` is incomplete; absent when it is complete. */
  readonly truncated?: TruncationCause;
}

export interface HttpOptions {
  /** Maximum time for a complete response, milliseconds. */
  readonly timeoutMs: number;
  /** Maximum body size, bytes. */
  readonly maxBodyBytes: number;
  /** Sockets per origin. */
  readonly connections: number;
  /** Default: `USER_AGENT`. */
  readonly userAgent?: string | undefined;
  readonly clock: Clock;
}

/** Sends one request and reads the complete response, whatever its status. No redirects, no rate limit, no retries. */
export class HttpTransport {
  readonly #agent: Agent;
  readonly #closing = new AbortController();

  constructor(private readonly options: HttpOptions) {
    // Every pending request listens to it.
    setMaxListeners(0, this.#closing.signal);
    // The timer of `send` bounds the complete call, so undici's timers per phase are off.
    this.#agent = new Agent({
      connections: options.connections,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: options.timeoutMs },
    });
  }

  /** @throws TransportError; the signal's reason when it is aborted */
  async send(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> {
    signal?.throwIfAborted();
    const abort = new AbortController();
    const startTimer = () => setTimeout(() => abort.abort(new Aborted('timeout')), this.options.timeoutMs);
    let timer = startTimer();
    const onAbort = () => abort.abort(new Aborted('connection'));
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#closing.signal.addEventListener('abort', onAbort, { once: true });
    if (this.#closing.signal.aborted) onAbort();
    let head: Dispatcher.ResponseData | undefined;
    const body = new Body(this.options.maxBodyBytes, async (bytes) => {
      const turn = request.largeBody?.wait(bytes, abort.signal);
      if (!turn) return;
      clearTimeout(timer);
      await turn;
      timer = startTimer();
    });
    try {
      head = await this.#agent.request({
        origin: request.origin,
        path: request.target,
        method: request.method,
        headers: headersOf(request, this.options.userAgent ?? USER_AGENT),
        body: request.body ?? null,
        signal: abort.signal,
      });
      await body.read(head.body);
      return this.#answer(head, body);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (this.#closing.signal.aborted) {
        throw new TransportError('connection', request.what, { detail: 'the client was closed' });
      }
      const late = abort.signal.aborted || codeOf(error) === CONNECT_TIMEOUT;
      const code = body.isFull ? 'too-large' : late ? 'timeout' : 'broken-off';
      if (head) request.onTruncated?.({ ...this.#answer(head, body), truncated: code });
      throw this.#failure(
        head || late ? code : connectionErrorCode(error),
        request.what,
        error,
        !head && isUnsent(error),
      );
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#closing.signal.removeEventListener('abort', onAbort);
    }
  }

  #answer(head: Dispatcher.ResponseData, body: Body): HttpResponse {
    const receivedAtMicros = this.options.clock.nowMicros();
    return { status: head.statusCode, headers: flatten(head.headers), receivedAtMicros, bytes: body.bytes };
  }

  #failure(fault: TransportErrorCode, what: string, error: unknown, unsent: boolean): TransportError {
    const { timeoutMs, maxBodyBytes } = this.options;
    if (fault === 'too-large') return new TransportError(fault, what, { detail: `over ${maxBodyBytes} bytes` });
    const detail = fault === 'timeout' ? { detail: `${timeoutMs} ms` } : {};
    return new TransportError(fault, what, { cause: error, unsent, ...detail });
  }

  /** Aborts all requests and closes all sockets. May be called twice. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#agent.destroy();
  }
}

/** The body of a response, up to the maximum size. */
class Body {
  #chunks: Buffer[] = [];
  #size = 0;
  isFull = false;

  /** @param mayContinue called with the bytes received so far; more are read when it has resolved */
  constructor(
    private readonly maxBytes: number,
    private readonly mayContinue: (bytes: number) => Promise<void>,
  ) {}

  /** Reads to the end. Rejects when the connection breaks or the maximum size is exceeded. */
  async read(body: Dispatcher.ResponseData['body']): Promise<void> {
    // An error may still be emitted after the loop ended; it is of no interest then.
    body.on('error', () => undefined);
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const capacity = this.maxBytes - this.#size;
      const taken = chunk.length > capacity ? chunk.subarray(0, capacity) : chunk;
      this.#chunks.push(taken);
      this.#size += taken.length;
      await this.mayContinue(this.#size);
      if (taken === chunk) continue;
      this.isFull = true;
      body.destroy();
      throw new Error('the body exceeds the maximum size');
    }
  }

  get bytes(): Buffer {
    const [only] = this.#chunks;
    if (this.#chunks.length === 1 && only) return only;
    const joined = Buffer.concat(this.#chunks, this.#size);
    // The chunks take as much memory again.
    this.#chunks = [joined];
    return joined;
  }
}

/** The reason of a request that this client aborted. */
class Aborted extends Error {}

const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | undefined)?.code);

/** Whether a request failed before it had a connection. A host with several IPs fails with one error for each. */
function isUnsent(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnsent);
  const { syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  return codeOf(error) === CONNECT_TIMEOUT || connectionErrorCode(error) !== 'connection';
}

function headersOf(request: HttpRequest, userAgent: string): Record<string, string> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
  };
  if (request.body !== undefined) headers['content-type'] = 'application/json';
  return { ...headers, ...request.headers };
}

function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value[0] : value;
    if (text !== undefined) flat[name.toLowerCase()] = text;
  }
  return flat;
}
