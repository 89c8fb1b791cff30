import { setMaxListeners } from 'node:events';

/** The promise's outcome, or the reason of the first signal that is aborted before it; the promise itself continues. */
export async function untilAborted<T>(promise: Promise<T>, ...signals: (AbortSignal | undefined)[]): Promise<T> {
  // After an abort nothing else handles a rejection of the promise.
  promise.catch(() => undefined);
  for (const signal of signals) {
    signal?.throwIfAborted();
    // Each partition adds a listener to the same signal.
    if (signal) setMaxListeners(0, signal);
  }
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signals.find((signal) => signal?.aborted)?.reason);
    for (const signal of signals) signal?.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    for (const signal of signals) signal?.removeEventListener('abort', abort);
  }
}

/** Resolves when the promise has resolved or rejected, or after `timeoutMs`. */
export async function withTimeout(timeoutMs: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([Promise.allSettled([promise]), expired]);
  clearTimeout(timer);
}
