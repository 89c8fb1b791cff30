import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';

/** A query that was not registered yet when it was killed is killed again. */
const KILL_EVERY_MS = 100;
/** A query that has not ended by then is left to the server, which ends it when its connection closes. */
const MAX_CANCEL_MS = 10_000;

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
): Promise<T> {
  signal.throwIfAborted();
  const queryId = randomUUID();
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

async function killUntil(ended: AbortSignal, client: ClickHouseClient, queryId: string): Promise<void> {
  const until = AbortSignal.any([ended, AbortSignal.timeout(MAX_CANCEL_MS)]);
  while (!until.aborted) {
    try {
      const query = 'KILL QUERY WHERE query_id = {id:String} ASYNC';
      await client.command({ query, query_params: { id: queryId }, abort_signal: until });
    } catch {
      // The server does not respond, or rejects it: closing the connection is what is left.
      return;
    }
    await delay(KILL_EVERY_MS, undefined, { signal: until }).catch(() => undefined);
  }
}
