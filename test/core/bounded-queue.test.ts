import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedQueue } from '../../core/index.js';

describe('the bounded queue', () => {
  it('delivers everything in order, and tells producers when to pause and when to resume', async () => {
    const queue = new BoundedQueue<string>(5, (text) => text.length);
    expect([queue.push('aa'), queue.push('bb'), queue.push('cc')]).toEqual([true, true, false]);
    let resumed = false;
    const waiting = queue.whenBelowCapacity().then(() => {
      resumed = true;
    });
    expect(await queue.take(0)).toEqual([]);
    expect(resumed).toBe(false);
    expect(await queue.take(2)).toEqual(['aa', 'bb']);
    await waiting;
    expect([queue.length, queue.size]).toEqual([1, 2]);
  });

  it('wakes a waiting consumer, and lets it drain the queue after close', async () => {
    const queue = new BoundedQueue<number>(10);
    const first = queue.take(5);
    queue.push(1);
    expect(await first).toEqual([1]);
    queue.push(2);
    queue.close();
    expect(() => queue.push(3)).toThrow('closed queue');
    expect(await queue.take(5)).toEqual([2]);
    expect(await queue.take(5)).toEqual([]);
    await queue.whenBelowCapacity();
  });

  it('loses, duplicates and reorders nothing in any sequence of pushes and takes', async () => {
    const steps = fc.array(fc.oneof(fc.constant('push' as const), fc.integer({ min: 1, max: 9 })), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const queue = new BoundedQueue<number>(4);
        const taken: number[] = [];
        let pushed = 0;
        for (const step of sequence) {
          if (step === 'push') expect(queue.push(pushed++)).toBe(queue.length < 4);
          else if (queue.length > 0) taken.push(...(await queue.take(step)));
        }
        queue.close();
        for (let rest = await queue.take(3); rest.length > 0; rest = await queue.take(3)) taken.push(...rest);
        expect(taken).toEqual(Array.from({ length: pushed }, (_, i) => i));
        expect(queue.size).toBe(0);
      }),
      { seed: 7 },
    );
  });
});
