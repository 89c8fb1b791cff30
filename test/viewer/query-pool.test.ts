import { describe, expect, it } from 'vitest';
import { deferred } from '../../core/index.js';
import { QueryPool } from '../../viewer/query-pool.js';

const never = new AbortController().signal;
const KEPT_BYTES = 10_000;
const KEPT_MS = 1000;

function rig(queries = 4, nowMs = () => 0) {
  const pool = new QueryPool({ queries, refreshes: 1, keptBytes: KEPT_BYTES }, nowMs);
  const asked: string[] = [];
  const run = (key: string, result: unknown = key) =>
    pool.run(key, KEPT_MS, never, async () => {
      asked.push(key);
      return result;
    });
  return { pool, asked, run };
}

describe('the queries of the viewer', () => {
  it('keep results up to a total size, the newest ones', async () => {
    const { asked, run } = rig();
    const large = 'x'.repeat(4000);
    for (const key of ['a', 'b', 'c']) await run(key, large);
    asked.length = 0;
    for (const key of ['c', 'b', 'a']) await run(key, large);
    expect(asked).toEqual(['a']);
  });

  it('keep no result that alone is larger, but all who asked for it meanwhile have it', async () => {
    const { pool, asked, run } = rig();
    const { promise, resolve } = deferred();
    const results = [1, 2].map(() =>
      pool.run('large', KEPT_MS, never, async () => {
        asked.push('large');
        await promise;
        return Array.from({ length: 2000 }, (_, i) => i);
      }),
    );
    resolve();
    expect((await Promise.all(results)).map(({ length }) => length)).toEqual([2000, 2000]);
    await run('large');
    expect(asked).toEqual(['large', 'large']);
  });

  it('that are read as streams are in flight until they have ended', async () => {
    const { pool, asked, run } = rig(1);
    const { promise: ended, resolve } = deferred();
    const stream = await pool.stream(never, async () => ({ ended }));
    expect(pool.running).toBe(1);
    const waiting = run('next');
    expect(asked).toEqual([]);
    resolve();
    await Promise.all([waiting, stream.ended]);
    expect(asked).toEqual(['next']);
    expect(pool.running).toBe(0);
  });

  it('that go first do not wait for others that wait', async () => {
    const { pool, asked, run } = rig(1);
    const { promise, resolve } = deferred();
    const running = pool.run('running', KEPT_MS, never, () => promise);
    const usual = run('usual');
    const first = pool.run('first', KEPT_MS, never, async () => asked.push('first'), 'first');
    resolve();
    await Promise.all([running, usual, first]);
    expect(asked).toEqual(['first', 'usual']);
  });

  it('that are refreshes and take long run one at a time, and others do not wait for them', async () => {
    let nowMs = 0;
    const { pool, run } = rig(4, () => nowMs);
    const slow = (key: string) =>
      pool.run(key, KEPT_MS, never, async () => {
        await Promise.resolve();
        nowMs += 200;
        return key;
      });
    const both = () => ['a', 'b'].map(slow);
    const first = both();
    expect(pool.running).toBe(2);
    await Promise.all(first);
    nowMs += KEPT_MS;
    const refreshed = both();
    expect(pool.running).toBe(1);
    expect(await run('quick')).toBe('quick');
    expect(pool.running).toBe(1);
    expect(await Promise.all(refreshed)).toEqual(['a', 'b']);
    nowMs += 60_000;
    const later = both();
    expect(pool.running).toBe(2);
    await Promise.all(later);
  });

  it('leave their place when a stream fails before it begins', async () => {
    const { pool, run } = rig(1);
    await expect(pool.stream(never, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(await run('next')).toBe('next');
    expect(pool.running).toBe(0);
  });
});
