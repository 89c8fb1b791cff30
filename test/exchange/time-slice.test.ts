import { expect, it } from 'vitest';
import { TimeSlice } from '../../exchange/server/time-slice.js';

const SLICE_MS = 5;
const WORK_MS = 100;

/** Works for a while, a millisecond at a time; returns how often other work ran. */
async function turnsDuring(pause: () => Promise<void>): Promise<number> {
  let turns = 0;
  let working = true;
  const turn = (): void => {
    turns += 1;
    if (working) setImmediate(turn);
  };
  setImmediate(turn);
  for (let worked = 0; worked < WORK_MS; worked++) {
    const end = performance.now() + 1;
    while (performance.now() < end);
    await pause();
  }
  working = false;
  return turns;
}

it('long work that yields lets other work run after each slice of time', async () => {
  const slice = new TimeSlice(SLICE_MS);
  expect(await turnsDuring(() => slice.yieldWhenOver())).toBeGreaterThanOrEqual(WORK_MS / SLICE_MS / 2);
  expect(await turnsDuring(async () => undefined)).toBe(0);
});
