import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../core/index.js';

/** A delay beyond this is not caught up. */
const MAX_BEHIND_MS = 1000;

/**
 * Repeats `turn` with the waits that it returns (milliseconds at pace 1) until the signal is aborted. A late turn shortens
 * the next wait, so the rate holds when waits are shorter than the precision of timers.
 */
export async function pacedLoop(
  clock: Clock,
  pace: number,
  signal: AbortSignal,
  turn: () => Promise<number> | number,
): Promise<void> {
  let due = clock.nowMs();
  while (!signal.aborted) {
    due = Math.max(due + (await turn()) / pace, clock.nowMs() - MAX_BEHIND_MS);
    const wait = due - clock.nowMs();
    if (wait < 1) await setImmediate();
    else await clock.sleep(wait, signal).catch(() => undefined);
  }
}
