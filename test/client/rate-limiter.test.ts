import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../client/rate-limiter.js';
import { parseRetryAfter } from '../../client/retry-after.js';
import { ManualClock } from '../support/clocks.js';

function pacer(requestsPerSecond = 10, concurrency = 4) {
  const clock = new ManualClock();
  return { clock, pacer: new RateLimiter({ requestsPerSecond, concurrency, clock }), start: clock.nowMs() };
}

describe('pacing', () => {
  it('spaces requests evenly at the full rate, the first one at once', async () => {
    const { clock, pacer: paced, start } = pacer(10);
    const at: number[] = [];
    const all = Promise.all(Array.from({ length: 6 }, () => paced.run(async (now) => void at.push(now - start))));
    await clock.advance(1000);
    await all;
    expect(at).toEqual([0, 100, 200, 300, 400, 500]);
  });

  it('limits the number of concurrent requests', async () => {
    const { clock, pacer: paced } = pacer(1000, 2);
    const release: (() => void)[] = [];
    let running = 0;
    const all = Array.from({ length: 5 }, () =>
      paced.run(async () => {
        running += 1;
        await new Promise<void>((resolve) => release.push(resolve));
        running -= 1;
      }),
    );
    await clock.advance(100);
    expect(running).toBe(2);
    expect(paced.pending).toBe(5);
    for (let n = 0; n < 5; n++) {
      release[n]?.();
      await clock.advance(100);
      expect(running).toBeLessThanOrEqual(2);
    }
    await Promise.all(all);
    expect(paced.pending).toBe(0);
  });

  it('halves the rate on a 429, once for concurrent requests, and recovers [7.2/429]', async () => {
    const { clock, pacer: paced, start } = pacer(20);
    paced.slowDown(start, undefined);
    expect(paced.rate).toBe(10);
    await clock.advance(1);
    paced.slowDown(start - 1, undefined);
    expect(paced.rate).toBeCloseTo(10, 1);
    paced.slowDown(clock.nowMs(), undefined);
    expect(paced.rate).toBeCloseTo(5, 1);
    await clock.advance(5000);
    expect(paced.rate).toBeCloseTo(10, 0);
    await clock.advance(60_000);
    expect(paced.rate).toBe(20);
  });

  it('never reduces the rate to zero', () => {
    const { clock, pacer: paced } = pacer(64);
    for (let n = 0; n < 50; n++) paced.slowDown(clock.nowMs(), undefined);
    expect(paced.rate).toBe(1);
  });

  it('delays all requests, also waiting ones, for the time of Retry-After, and does not recover meanwhile', async () => {
    const { clock, pacer: paced, start } = pacer(10, 4);
    const at: number[] = [];
    const record = async (now: number) => void at.push(now - start);
    const first = paced.run(async (now) => paced.slowDown(now, 3000));
    const rest = [paced.run(record), paced.run(record), paced.run(record)];
    await clock.advance(2999);
    expect(at).toEqual([]);
    expect(paced.rate).toBe(5);
    await clock.advance(2000);
    await Promise.all([first, ...rest]);
    expect(at[0]).toBe(3000);
    expect((at[1] ?? 0) - 3000).toBeGreaterThan(150);
    expect((at[2] ?? 0) - (at[1] ?? 0)).toBeGreaterThan(150);
  });

  it('starts requests with high priority first, and every second time a normal one', async () => {
    const { clock, pacer: paced } = pacer(10, 4);
    const started: string[] = [];
    const request = (name: string, priority?: 'high') =>
      paced.run(async () => void started.push(name), undefined, priority);
    const normal = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'].map((name) => request(name));
    const high = ['h1', 'h2', 'h3'].map((name) => request(name, 'high'));
    await clock.advance(1000);
    await Promise.all([...normal, ...high]);
    // The first one found nothing else waiting.
    expect(started).toEqual(['n1', 'h1', 'n2', 'h2', 'n3', 'h3', 'n4', 'n5', 'n6']);
  });

  it('lets requests that are made one by one take every second turn before a long queue', async () => {
    const { clock, pacer: paced, start } = pacer(100, 4);
    const queue = Promise.all(Array.from({ length: 500 }, () => paced.run(async () => undefined)));
    const at: number[] = [];
    const walk = async () => {
      for (let page = 0; page < 50; page++) {
        await paced.run(async (now) => void at.push(now - start), undefined, 'high');
      }
    };
    const walked = walk();
    await clock.advance(1100);
    await walked;
    expect(at.at(-1)).toBeLessThanOrEqual(1010);
    await clock.advance(6000);
    await queue;
  });

  it('drops a waiting request when its signal is aborted, and continues with the others', async () => {
    const { clock, pacer: paced } = pacer(1, 1);
    const abort = new AbortController();
    const done: string[] = [];
    const all = Promise.allSettled([
      paced.run(async () => void done.push('first')),
      paced.run(async () => void done.push('second'), abort.signal),
      paced.run(async () => void done.push('third'), abort.signal),
      paced.run(async () => void done.push('fourth')),
    ]);
    await clock.advance(10);
    abort.abort(new Error('enough'));
    await clock.advance(3000);
    expect((await all).map((r) => (r.status === 'rejected' ? (r.reason as Error).message : 'ok'))).toEqual([
      'ok',
      'enough',
      'enough',
      'ok',
    ]);
    expect(done).toEqual(['first', 'fourth']);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2025-11-21T10:00:00Z');

  it.each([
    ['3', 3000],
    [' 0 ', 0],
    ['Fri, 21 Nov 2025 10:00:07 GMT', 7000],
    ['Fri, 21 Nov 2025 09:00:00 GMT', 0],
    ['99999999999', 60_000],
    ['Fri, 21 Nov 2099 10:00:00 GMT', 60_000],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j ms', (header, ms) => {
    expect(parseRetryAfter(header, now)).toBe(ms);
  });
});
