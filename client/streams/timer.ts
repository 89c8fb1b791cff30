import type { Clock } from '../../core/index.js';

/** Calls `work` after `ms`, unless the returned function is called first. */
export function after(clock: Clock, ms: number, work: () => void): () => void {
  const cancelled = new AbortController();
  clock.sleep(ms, cancelled.signal).then(
    () => {
      if (!cancelled.signal.aborted) work();
    },
    () => undefined,
  );
  return () => cancelled.abort();
}
