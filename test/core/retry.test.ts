import { describe, expect, it } from 'vitest';
import { Backoff, type Clock, retry, Stopped, UnavailableError, UsageError } from '../../core/index.js';

/** A clock whose sleeps take no time and are recorded. */
function fakeClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    nowMicros: () => 0,
    nowMs: () => 0,
    elapsedMs: () => 0,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
    },
  };
}

describe('retry', () => {
  it('retries with exponential, jittered, capped delays until it succeeds', async () => {
    const clock = fakeClock();
    const attempts: number[] = [];
    const answer = await retry(
      async (attempt) => {
        attempts.push(attempt);
        if (attempt < 4) throw new UnavailableError('not yet');
        return 'done';
      },
      { clock, random: () => 0.5, baseMs: 100, capMs: 500 },
    );
    expect(answer).toBe('done');
    expect(attempts).toEqual([0, 1, 2, 3, 4]);
    expect(clock.slept).toEqual([50, 100, 200, 250]);
  });

  it('rejects after the maximum number of attempts, with the last error', async () => {
    const clock = fakeClock();
    let calls = 0;
    const work = () => Promise.reject(new UnavailableError(`call ${++calls}`));
    await expect(retry(work, { clock, attempts: 3 })).rejects.toThrow('call 3');
    expect(clock.slept).toHaveLength(2);
  });

  it('does not retry permanent errors', async () => {
    const clock = fakeClock();
    await expect(retry(() => Promise.reject(new UsageError('wrong flag')), { clock })).rejects.toThrow('wrong flag');
    await expect(retry(() => Promise.reject(new TypeError('defect')), { clock })).rejects.toThrow('defect');
    expect(clock.slept).toEqual([]);
  });

  it('waits at least as long as the server requested', async () => {
    const clock = fakeClock();
    const work = (attempt: number) =>
      attempt === 0 ? Promise.reject(new UnavailableError('busy')) : Promise.resolve();
    await retry(work, { clock, random: () => 0, atLeastMs: () => 3000 });
    expect(clock.slept).toEqual([3000]);
  });

  it('stops when its signal is aborted', async () => {
    const stop = new AbortController();
    const work = async () => {
      stop.abort(new Stopped('enough'));
      throw new UnavailableError('not yet');
    };
    await expect(retry(work, { clock: fakeClock(), signal: stop.signal })).rejects.toThrow('not yet');
    await expect(retry(work, { clock: fakeClock(), signal: stop.signal })).rejects.toThrow('enough');
  });
});

describe('a backoff', () => {
  it('starts from its minimum after a reset and never exceeds its cap', () => {
    const backoff = new Backoff({ baseMs: 10, capMs: 1000 }, () => 1);
    const delays = Array.from({ length: 9 }, () => backoff.nextDelayMs());
    expect(delays).toEqual([10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
    backoff.reset();
    expect(backoff.nextDelayMs()).toBe(10);
  });
});
