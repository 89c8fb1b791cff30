import { request } from 'undici';
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

/**
 * The result of a query while it runs: the server stores nothing of it. undici takes less CPU time than the client of the
 * other queries, and these are most of the bytes.
 * @throws ExportQueryError when the query fails, which may be behind an incomplete result
 */
export async function* queryBytes(
  { endpoint, query, settings }: BytesQuery,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let end: Buffer = Buffer.alloc(0);
  try {
    const { statusCode, body } = await request(endpoint.url, {
      method: 'POST',
      query: { ...settings },
      headers: { 'x-clickhouse-user': endpoint.user, 'x-clickhouse-key': endpoint.password.reveal() },
      body: query,
      signal,
    });
    // The response to a query that failed early may begin with rows.
    if (statusCode !== 200)
      throw new ExportQueryError(`ClickHouse: ${/Code: .*$/s.exec(await body.text())?.[0].trim()}`);
    for await (const chunk of body as AsyncIterable<Buffer>) {
      yield chunk;
      end = (chunk.length < END_BYTES ? Buffer.concat([end, chunk]) : chunk).subarray(-END_BYTES);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ExportQueryError) throw error;
    const message = messageIn(end) ?? `it broke off the result: ${describeError(error)}`;
    throw new ExportQueryError(`ClickHouse: ${message}`, { cause: error });
  }
  const message = messageIn(end);
  if (message !== undefined) throw new ExportQueryError(`ClickHouse: ${message}`);
}

const messageIn = (end: Buffer): string | undefined => EXCEPTION.exec(end.toString('utf8'))?.[2];
