import { once } from 'node:events';
import { connect } from 'node:net';
import { describeError } from '../core/index.js';
import type { ClickHouseEndpoint } from '../warehouse/index.js';
import { ExportQueryError } from './source.js';

interface BytesQuery {
  readonly endpoint: ClickHouseEndpoint;
  /** With its FORMAT clause. */
  readonly query: string;
  readonly settings: Readonly<Record<string, string>>;
}

const BUFFER_BYTES = 262_144;
const LINE_FEED = 10;
const HEADER_END = '\r\n\r\n';
/** Behind the incomplete result of a query that failed: a tag, the message, its length and the tag again. */
const EXCEPTION = /__exception__\r\n(\w+)\r\n(.*)\n\d+ \1\r\n__exception__\r\n$/s;
/** More than such a message, with its tags. */
const END_BYTES = 32_768;

/**
 * Reads the result of a query while it runs, all into one buffer, which stays in the cache of the processor. Node's HTTP client
 * makes a new one for each piece, which takes more CPU time than the hash of a result of many GB.
 * @param onBytes called for each piece; its buffer has other bytes afterwards
 * @throws ExportQueryError when the query fails, which may be behind an incomplete result
 */
export async function queryBytes(
  { endpoint, query, settings }: BytesQuery,
  onBytes: (bytes: Buffer) => void,
  signal: AbortSignal,
): Promise<void> {
  const { hostname, port } = new URL(endpoint.url);
  const response = new Response(onBytes);
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  const callback = (length: number): boolean => {
    response.push(buffer.subarray(0, length));
    return true;
  };
  const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback } });
  socket.write(requestOf(endpoint, query, settings));
  try {
    await once(socket, 'close', { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new ExportQueryError(`ClickHouse broke off the result: ${describeError(error)}`, { cause: error });
  } finally {
    socket.destroy();
  }
  response.assertComplete();
}

function requestOf(
  { user, password, url }: ClickHouseEndpoint,
  query: string,
  settings: BytesQuery['settings'],
): string {
  return [
    `POST /?${new URLSearchParams(settings)} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `X-ClickHouse-User: ${user}`,
    `X-ClickHouse-Key: ${password.reveal()}`,
    `Content-Length: ${Buffer.byteLength(query)}`,
    'Connection: close',
    '',
    query,
  ].join('\r\n');
}

/** The bytes of an HTTP response: a header, then chunks, of which the last one is empty. */
class Response {
  #header = '';
  #isInBody = false;
  /** Bytes of the chunk that are still to come. */
  #left = 0;
  #sizeLine = '';
  #isComplete = false;
  readonly #end = Buffer.alloc(END_BYTES);

  constructor(private readonly onBytes: (bytes: Buffer) => void) {}

  push(bytes: Buffer): void {
    if (this.#isInBody) {
      this.#pushBody(bytes);
      return;
    }
    this.#header += bytes.toString('latin1');
    const end = this.#header.indexOf(HEADER_END);
    if (end < 0) return;
    const body = this.#header.slice(end + HEADER_END.length);
    this.#header = this.#header.slice(0, end);
    this.#isInBody = true;
    this.#pushBody(Buffer.from(body, 'latin1'));
  }

  #pushBody(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.#isComplete; ) {
      if (this.#left > 0) {
        const part = bytes.subarray(at, at + this.#left);
        this.#take(part);
        at += part.length;
        this.#left -= part.length;
        continue;
      }
      const end = bytes.indexOf(LINE_FEED, at);
      this.#sizeLine += bytes.toString('latin1', at, end < 0 ? bytes.length : end);
      if (end < 0) return;
      at = end + 1;
      this.#beginChunk(this.#sizeLine.trim());
      this.#sizeLine = '';
    }
  }

  /** @param size in hexadecimal digits; empty on the line behind a chunk */
  #beginChunk(size: string): void {
    if (size === '') return;
    this.#left = Number.parseInt(size, 16);
    this.#isComplete = this.#left === 0;
  }

  #take(bytes: Buffer): void {
    const last = bytes.subarray(-END_BYTES);
    this.#end.copyWithin(0, last.length);
    this.#end.set(last, END_BYTES - last.length);
    if (this.#isOk()) this.onBytes(bytes);
  }

  #isOk(): boolean {
    return this.#header.startsWith('HTTP/1.1 200 ');
  }

  assertComplete(): void {
    const end = this.#end.toString('utf8');
    // The response to a query that failed early may begin with rows.
    if (!this.#isOk()) throw new ExportQueryError(`ClickHouse: ${/Code: .*$/s.exec(end)?.[0].trim() ?? 'no result'}`);
    const [, , message] = EXCEPTION.exec(end) ?? [];
    if (message !== undefined) throw new ExportQueryError(`ClickHouse: ${message}`);
    if (!this.#isComplete) throw new ExportQueryError('ClickHouse broke off the result');
  }
}
