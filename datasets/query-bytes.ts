import { once } from 'node:events';
import { connect } from 'node:net';
import { describeError } from '../core/index.js';
import type { ClickHouseEndpoint } from '../warehouse/index.js';
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
 * Reads the result of a query while it runs: the server stores nothing of it. All of it is read into one buffer, since these
 * results are most of what a check of a dataset reads: with a new buffer for each part, as of an HTTP client, the garbage
 * collector takes as much CPU time as SHA-256. The request is one of HTTP/1.0, whose response ends with its connection.
 * @param onBytes is called with each part of the result, which is valid only during the call
 * @throws ExportQueryError when the query fails, which may be behind an incomplete result
 */
export async function queryBytes(
  query: BytesQuery,
  onBytes: (bytes: Buffer) => void,
  signal: AbortSignal,
): Promise<void> {
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

/** Sends the request, and reads until the connection ends. */
async function exchange(query: BytesQuery, response: Response, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(query.endpoint.url);
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  const callback = (bytes: number): boolean => {
    response.push(buffer.subarray(0, bytes));
    return true;
  };
  const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback } });
  try {
    socket.write(requestOf(query));
    await once(socket, 'close', { signal });
  } finally {
    socket.destroy();
  }
}

function requestOf({ endpoint, query, settings }: BytesQuery): string {
  const params = new URLSearchParams(
    Object.entries(settings).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const head = [
    `POST /?${params} HTTP/1.0`,
    `X-ClickHouse-User: ${endpoint.user}`,
    `X-ClickHouse-Key: ${endpoint.password.reveal()}`,
    `Content-Length: ${Buffer.byteLength(query)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${query}`;
}

/** The response to a query, as it arrives. */
class Response {
  #head = '';
  /** Undefined while the head is incomplete. */
  #isOk: boolean | undefined;
  /** The last bytes of the body, at its end. */
  readonly #end = Buffer.alloc(END_BYTES);

  constructor(private readonly onBytes: (bytes: Buffer) => void) {}

  /** Why the query failed, as far as the response says so. */
  get failure(): string | undefined {
    if (this.#isOk === undefined) return 'it sent no response';
    const end = this.#end.toString('utf8');
    // The response to a query that failed early may begin with rows.
    return this.#isOk ? EXCEPTION.exec(end)?.[2] : (/Code: .*$/s.exec(end)?.[0].trim() ?? 'it rejected the query');
  }

  push(bytes: Buffer): void {
    if (this.#isOk !== undefined) {
      this.#pushBody(bytes);
      return;
    }
    const before = this.#head.length;
    this.#head += bytes.toString('latin1');
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return;
    this.#isOk = /^HTTP\/1\.\d 200 /.test(this.#head);
    this.#pushBody(bytes.subarray(end + 4 - before));
  }

  #pushBody(bytes: Buffer): void {
    if (this.#isOk) this.onBytes(bytes);
    const added = bytes.subarray(-END_BYTES);
    this.#end.copyWithin(0, added.length);
    added.copy(this.#end, END_BYTES - added.length);
  }
}
