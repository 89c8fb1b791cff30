import type { Writable } from 'node:stream';

/**
 * Resolves when everything that was written is with the system: a pipe takes only as much as its reader leaves room
 * for, and `process.exit` throws the rest away without a word. Rejects with the signal's reason when it is aborted.
 */
export function handedOver(out: Writable, signal?: AbortSignal): Promise<void> {
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
