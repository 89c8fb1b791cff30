import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';

/** A query that was not registered yet when it was killed is killed again. */
const KILL_EVERY_MS = 100;
/** A query that has not ended by then is left to the server, which ends it when its connection closes. */
const MAX_CANCEL_MS = 10_000;
/** ClickHouse's codes READONLY and ACCESS_DENIED. */
const FORBIDDEN = new Set(['164', '497']);

/** What a query is sent with, so that it can be killed. */
export interface RunningQuery {
  readonly query_id: string;
  /** Closes its connection. */
  readonly abort_signal: AbortSignal;
}

/**
 * Runs a query. When the signal is aborted, the query is killed on the server, and the promise waits until it has ended there
 * (at most 10 s): a closed connection would end it too, but only after a moment that the client does not see.
 */
export async function untilEnded<T>(
  client: ClickHouseClient,
  signal: AbortSignal,
  ask: (running: RunningQuery) => Promise<T>,
  queryId: string = randomUUID(),
): Promise<T> {
  signal.throwIfAborted();
  const closed = new AbortController();
  const ended = new AbortController();
  const onAbort = () => void killUntil(ended.signal, client, queryId).finally(() => closed.abort());
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const result = await ask({ query_id: queryId, abort_signal: closed.signal });
    signal.throwIfAborted();
    return result;
  } finally {
    ended.abort();
    signal.removeEventListener('abort', onAbort);
  }
}

/** The result of a query while it is read. */
export interface QueryStream {
  readonly stream: Readable;
  /** Resolves when the stream is closed and the query has ended on the server. Never rejects. */
  readonly ended: Promise<void>;
}

/**
 * As `untilEnded`, for a result that is a stream. When the signal is aborted, or the stream is destroyed before its end, the query
 * is killed on the server.
 */
export async function streamUntilEnded(
  client: ClickHouseClient,
  signal: AbortSignal,
  ask: (running: RunningQuery) => Promise<Readable>,
): Promise<QueryStream> {
  const queryId = randomUUID();
  const stream = await untilEnded(client, signal, ask, queryId);
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  const stop = () => void stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const ended = closed.then(async () => {
    signal.removeEventListener('abort', stop);
    if (!stream.readableEnded) await kill(client, queryId);
  });
  return { stream, ended };
}

/** Ends a query, and waits until the server knows it no longer. */
async function kill(client: ClickHouseClient, queryId: string): Promise<void> {
  const until = AbortSignal.timeout(MAX_CANCEL_MS);
  const query = 'KILL QUERY WHERE query_id = {id:String} SYNC FORMAT TSV';
  try {
    while (!until.aborted) {
      const { stream } = await client.exec({ query, query_params: { id: queryId }, abort_signal: until });
      // One line per query that was still running.
      if ((await text(stream)) === '') return;
    }
  } catch {
    // The server does not respond, or rejects it: it ends the query, for the connection is closed.
  }
}

async function killUntil(ended: AbortSignal, client: ClickHouseClient, queryId: string): Promise<void> {
  const until = AbortSignal.any([ended, AbortSignal.timeout(MAX_CANCEL_MS)]);
  while (!until.aborted) {
    try {
      const query = 'KILL QUERY WHERE query_id = {id:String} ASYNC';
      await client.command({ query, query_params: { id: queryId }, abort_signal: until });
    } catch (error) {
      // Closing the connection is what is left where the server does not respond, or the user may not kill. A server that is
      // too busy is asked again.
      if (!(error instanceof ClickHouseError) || FORBIDDEN.has(error.code)) return;
    }
    await delay(KILL_EVERY_MS, undefined, { signal: until }).catch(() => undefined);
  }
}
