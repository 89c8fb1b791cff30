import { setMaxListeners } from 'node:events';

/** What the promise gives, or a signal's reason as soon as one is aborted; the promise itself goes on. */
export async function untilAborted<T>(promise: Promise<T>, ...signals: (AbortSignal | undefined)[]): Promise<T> {
  // Nobody hears of its failure once the signal was faster.
  promise.catch(() => undefined);
  for (const signal of signals) {
    signal?.throwIfAborted();
    // As many wait for one signal as there are partitions.
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

/** Resolves when the promise is settled, or after `ms` if that comes first. */
export async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([Promise.allSettled([promise]), expired]);
  clearTimeout(timer);
}
