import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
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
 * Reads the result of a query while it runs: the server stores nothing of it.
 * @param onBytes is called with each part of the result
 * @throws ExportQueryError when the query fails, which may be behind an incomplete result
 */
export async function queryBytes(
  query: BytesQuery,
  onBytes: (bytes: Buffer) => void,
  signal: AbortSignal,
): Promise<void> {
  let end: Buffer = Buffer.alloc(0);
  try {
    const response = await responseTo(query, signal);
    // The response to a query that failed early may begin with rows.
    if (response.statusCode !== 200)
      throw new ExportQueryError(`ClickHouse: ${/Code: .*$/s.exec(await text(response))?.[0].trim()}`);
    response.on('data', (bytes: Buffer) => {
      onBytes(bytes);
      end = (bytes.length < END_BYTES ? Buffer.concat([end, bytes]) : bytes).subarray(-END_BYTES);
    });
    await finished(response);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ExportQueryError) throw error;
    const message = messageIn(end) ?? `it broke off the result: ${describeError(error)}`;
    throw new ExportQueryError(`ClickHouse: ${message}`, { cause: error });
  }
  const message = messageIn(end);
  if (message !== undefined) throw new ExportQueryError(`ClickHouse: ${message}`);
}

async function responseTo({ endpoint, query, settings }: BytesQuery, signal: AbortSignal): Promise<IncomingMessage> {
  const url = new URL(endpoint.url);
  for (const [name, value] of Object.entries(settings)) url.searchParams.set(name, String(value));
  const headers = { 'x-clickhouse-user': endpoint.user, 'x-clickhouse-key': endpoint.password.reveal() };
  const asked = request(url, { method: 'POST', headers, agent: false, signal });
  // Errors after the response are those of the response.
  asked.on('error', () => undefined);
  asked.end(query);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return response;
}

const messageIn = (end: Buffer): string | undefined => EXCEPTION.exec(end.toString('utf8'))?.[2];
