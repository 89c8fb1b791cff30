import { describe, expect, it } from 'vitest';
import { pacedLoop } from '../../bots/paced-loop.js';
import { ManualClock } from '../support/clocks.js';

/** How many turns of a wait of 100 ms a bot takes in a number of seconds. */
async function turnsIn(seconds: number, pace: number): Promise<number> {
  const clock = new ManualClock();
  const stop = new AbortController();
  let turns = 0;
  const loop = pacedLoop(clock, pace, stop.signal, () => {
    turns += 1;
    return 100;
  });
  await clock.advance(seconds * 1000);
  stop.abort();
  await loop;
  return turns;
}

describe('the pace of bots', () => {
  it.each([
    [1, 10],
    [0.1, 1],
    [4, 40],
    [50, 500],
  ])('%d makes them act %d times a second where they would wait 100 ms', async (pace, perSecond) => {
    const turns = await turnsIn(20, pace);
    expect(turns).toBeGreaterThanOrEqual(20 * perSecond);
    expect(turns).toBeLessThanOrEqual(20 * perSecond + 1);
  });
});
