import { connect, type Socket } from 'node:net';
import { describeError } from '../core/index.js';
import type { ClickHouseEndpoint } from '../warehouse/index.js';
import { ChunkedBody } from './chunked-body.js';
import { ExportQueryError } from './source.js';

interface BytesQuery {
  readonly endpoint: ClickHouseEndpoint;
  /** With its FORMAT clause. */
  readonly query: string;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** Behind the incomplete result of a query that failed: a tag, the message, its length and the tag again. */
const EXCEPTION = /__exception__\r\n(\w+)\r\n(.*)\n\d+ \1\r\n__exception__\r\n$/s;
/** More than such a message, with its tags. */
const END_BYTES = 32_768;
/** Read at once; it stays in the cache of the processor. */
const BUFFER_BYTES = 262_144;

/**
 * Reads the result of a query while it runs: the server stores nothing of it. Every byte is read into the same buffer, which
 * takes half the CPU time of an HTTP client and no memory; these results are most of the bytes of a dataset's checks.
 * @param onBytes is called with each part of the result, which is valid only during the call
 * @throws ExportQueryError when the query fails, which may be behind an incomplete result
 */
export async function queryBytes(
  query: BytesQuery,
  onBytes: (bytes: Buffer) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const response = new Response(onBytes);
  let broken: unknown;
  try {
    await exchange(query, response, signal);
  } catch (error) {
    signal.throwIfAborted();
    broken = error;
  }
  const message = response.failure ?? (broken && `it broke off the result: ${describeError(broken)}`);
  if (message) throw new ExportQueryError(`ClickHouse: ${message}`, { cause: broken });
}

/** Sends the request, and reads until the response is complete or the connection ends. */
function exchange(query: BytesQuery, response: Response, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(query.endpoint.url);
  return new Promise((resolve, reject) => {
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    const onRead = (bytes: number): boolean => {
      try {
        response.push(buffer.subarray(0, bytes));
        if (response.isComplete) end();
      } catch (error) {
        end(error);
      }
      return true;
    };
    const socket: Socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback: onRead } });
    const onAbort = () => end(signal.reason);
    const end = (error?: unknown) => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    signal.addEventListener('abort', onAbort);
    socket.on('error', end);
    socket.on('close', () => end(new Error('the connection was closed')));
    socket.write(requestOf(query));
  });
}

function requestOf({ endpoint, query, settings }: BytesQuery): string {
  const { host } = new URL(endpoint.url);
  const params = new URLSearchParams(
    Object.entries(settings).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const head = [
    `POST /?${params} HTTP/1.1`,
    `Host: ${host}`,
    `X-ClickHouse-User: ${endpoint.user}`,
    `X-ClickHouse-Key: ${endpoint.password.reveal()}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(query)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${query}`;
}

/** The response to a query, as it arrives. */
class Response {
  #head = '';
  #isHead = true;
  #isOk = false;
  /** The last bytes of the body; of a response that is an error, all of it. */
  #end: Buffer = Buffer.alloc(0);
  readonly #body: ChunkedBody;

  constructor(private readonly onBytes: (bytes: Buffer) => void) {
    this.#body = new ChunkedBody((bytes) => this.#onBody(bytes));
  }

  get isComplete(): boolean {
    return this.#body.isComplete;
  }

  /** Why the query failed, as far as it says so. */
  get failure(): string | undefined {
    const text = this.#end.toString('utf8');
    // The response to a query that failed early may begin with rows.
    if (!this.#isHead && !this.#isOk) return /Code: .*$/s.exec(text)?.[0].trim() ?? 'it rejected the query';
    return EXCEPTION.exec(text)?.[2];
  }

  push(bytes: Buffer): void {
    if (!this.#isHead) {
      this.#body.push(bytes);
      return;
    }
    const before = this.#head.length;
    this.#head += bytes.toString('latin1');
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return;
    this.#isHead = false;
    this.#isOk = /^HTTP\/1\.1 200 /.test(this.#head);
    this.#body.push(bytes.subarray(end + 4 - before));
  }

  #onBody(bytes: Buffer): void {
    if (this.#isOk) this.onBytes(bytes);
    this.#end = (
      bytes.length < END_BYTES ? Buffer.concat([this.#end, bytes]) : Buffer.from(bytes.subarray(-END_BYTES))
    ).subarray(-END_BYTES);
  }
}
