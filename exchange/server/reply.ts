import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Reply } from './router.js';

/**
 * Writes an answer, waiting for readers that are slower than it. Resolves when everything is handed over or the reader
 * is gone.
 * @param truncated announces the whole body, sends half of it and leaves the rest out
 */
export async function sendReply(
  response: ServerResponse,
  reply: Reply,
  encode: (value: unknown) => string,
  headers: Readonly<Record<string, string>> = {},
  truncated = false,
): Promise<void> {
  if (response.destroyed || response.headersSent) return;
  if ('empty' in reply) {
    response.writeHead(reply.status, headers).end();
    return;
  }
  if ('lines' in reply) {
    response.writeHead(reply.status, { ...headers, 'Content-Type': 'application/x-ndjson' });
    for await (const text of reply.lines) if (!(await written(response, text))) return;
    response.end();
    return;
  }
  const pieces = 'pieces' in reply ? reply.pieces : [encode(reply.json)];
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  response.writeHead(reply.status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': length,
  });
  if (truncated) {
    const half = Buffer.from(pieces.join('')).subarray(0, Math.floor(length / 2));
    await new Promise<void>((resolve) => response.write(half, () => resolve()));
    return;
  }
  const last = pieces.length - 1;
  for (const piece of pieces.slice(0, last)) if (!(await written(response, piece))) return;
  response.end(pieces[last]);
}

/** Writes and waits for room; false when the reader is gone. */
async function written(response: ServerResponse, text: string): Promise<boolean> {
  if (response.destroyed) return false;
  if (response.write(text)) return true;
  const gone = new AbortController();
  const stop = () => gone.abort();
  response.once('close', stop);
  try {
    await once(response, 'drain', { signal: gone.signal });
    return true;
  } catch {
    return false;
  } finally {
    response.off('close', stop);
  }
}
