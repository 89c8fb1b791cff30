import { type Dispatcher, Pool } from 'undici';
import { describeError } from '../core/index.js';
import type { ClickHouseEndpoint } from './embedded/endpoint.js';
import { ConnectionError } from './errors.js';

export interface PostOptions {
  readonly query: string;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
  readonly queryId?: string | undefined;
  readonly contentType?: string;
  /** Called right before the first byte is written to an open connection; if it throws, nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface PostResponse {
  readonly status: number;
  /** ClickHouse's error code; 0 without an error. */
  readonly code: number;
  /** The query ID in ClickHouse's response. */
  readonly queryId: string;
  readonly text: string;
}

/**
 * How long a connection without a request is kept, milliseconds. ClickHouse announces a longer time, but the embedded one ends
 * silent connections earlier (`embedded/connection-guard.ts`), and proxies may too.
 */
const MAX_KEEP_ALIVE_MS = 2500;

/** POSTs a body from memory to ClickHouse on keep-alive connections. Never retries a request. */
export class HttpPost {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(
    private readonly options: {
      readonly endpoint: ClickHouseEndpoint;
      readonly application: string;
      readonly timeoutMs: number;
    },
  ) {
    const url = new URL(options.endpoint.url);
    this.#pool = new Pool(url.origin, {
      pipelining: 1,
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      connect: { timeout: 10_000 },
    });
    this.#path = url.pathname;
    this.#headers = {
      'x-clickhouse-user': options.endpoint.user,
      'x-clickhouse-key': options.endpoint.password.reveal(),
      'user-agent': options.application,
    };
  }

  /** Resolves with the complete response, whatever its status; throws ConnectionError without one. */
  async send(post: PostOptions): Promise<PostResponse> {
    post.signal?.throwIfAborted();
    const params = new URLSearchParams({ query: post.query });
    if (post.queryId !== undefined) params.set('query_id', post.queryId);
    for (const [name, value] of Object.entries(post.settings)) params.set(name, String(value));
    const request: Dispatcher.DispatchOptions = {
      method: 'POST',
      path: `${this.#path}?${params}`,
      headers: post.contentType ? { ...this.#headers, 'content-type': post.contentType } : this.#headers,
      body: post.body,
      idempotent: false,
    };
    return new Promise((resolve, reject) => {
      this.#pool.dispatch(request, new ResponseHandler(post, this.options.endpoint.url, { resolve, reject }));
    });
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

interface Outcome {
  resolve(answer: PostResponse): void;
  reject(error: unknown): void;
}

/** Collects one response. An abort rejects it immediately, even while the request still waits for a connection. */
class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  #status = 0;
  #headers: Readonly<Record<string, string | string[] | undefined>> = {};
  #controller: Dispatcher.DispatchController | undefined;
  readonly #onAbort = () => this.#reject(this.post.signal?.reason);

  constructor(
    private readonly post: PostOptions,
    private readonly url: string,
    private readonly outcome: Outcome,
  ) {
    post.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    try {
      this.post.signal?.throwIfAborted();
      this.post.beforeSend?.();
    } catch (error) {
      this.#reject(error);
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#removeListener();
    const header = (name: string) => String(this.#headers[name] ?? '');
    this.outcome.resolve({
      status: this.#status,
      code: Number(header('x-clickhouse-exception-code')) || 0,
      queryId: header('x-clickhouse-query-id'),
      text: Buffer.concat(this.#chunks).toString('utf8'),
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#removeListener();
    this.outcome.reject(
      new ConnectionError(`no response from ClickHouse at ${this.url}: ${describeError(error)}`, { cause: error }),
    );
  }

  #reject(reason: unknown): void {
    this.#removeListener();
    this.outcome.reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error(String(reason)));
  }

  #removeListener(): void {
    this.post.signal?.removeEventListener('abort', this.#onAbort);
  }
}
