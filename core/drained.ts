import type { Writable } from 'node:stream';

/**
 * Resolves when everything written to the stream has been flushed: a pipe waits for its reader, and `process.exit` would
 * discard the rest. Rejects with the signal's reason when it is aborted.
 */
export function drained(out: Writable, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    out.write('', (error) => {
      signal?.removeEventListener('abort', onAbort);
      if (error) reject(error);
      else resolve();
    });
  });
}
