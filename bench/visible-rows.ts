import { setTimeout as sleep } from 'node:timers/promises';

/** Interval between queries for the number of visible rows, milliseconds. Each query slows the measured processes down. */
export const POLL_MS = 50;
/** Of the whole time: a worker reads ahead of its inserts, so it has done much before the first row is visible. */
export const MEASURED = 'from the start until the last row is visible';

/**
 * Calls `start`, and waits until `visible` returns all rows.
 * @returns the rows per second of this time
 */
export async function visibleRowsPerSecond(
  rows: number,
  start: () => Promise<unknown>,
  visible: () => Promise<number>,
): Promise<number> {
  const startedAt = performance.now();
  await start();
  while ((await visible()) < rows) await sleep(POLL_MS);
  return Math.round((rows * 1000) / (performance.now() - startedAt));
}
