import { describe, expect, it } from 'vitest';
import { LargeBodies } from '../../client/large-bodies.js';
import { deferred } from '../../core/index.js';
import { until } from '../support/until.js';
import { serve } from './support.js';
import { exchangeOf } from './support-account.js';

const LARGE = 4 * 1024 * 1024 + 1;
const TIMEOUT_MS = 1000;
const { signal } = new AbortController();

describe('large bodies', () => {
  it('are received one at a time, each when the one before has been processed', async () => {
    const bodies = new LargeBodies();
    const [one, two, three] = [bodies.turn(), bodies.turn(), bodies.turn()];
    const order: string[] = [];
    await one.wait(LARGE, signal);
    const stopped = new AbortController();
    const second = two.wait(LARGE, stopped.signal)?.catch((error: Error) => order.push(error.message));
    const third = three.wait(LARGE, signal)?.then(() => order.push('third'));
    stopped.abort(new Error('stopped'));
    await second;
    expect(order).toEqual(['stopped']);
    two.end();
    expect(order).toEqual(['stopped']);
    one.end();
    await third;
    expect(order).toEqual(['stopped', 'third']);
  });

  it('wait only once, and small ones never', () => {
    const bodies = new LargeBodies(() => new Promise(() => undefined));
    const turn = bodies.turn();
    expect(turn.wait(LARGE - 1, signal)).toBeUndefined();
    expect(turn.wait(LARGE, signal)).toBeInstanceOf(Promise);
    expect(turn.wait(LARGE + 1, signal)).toBeUndefined();
  });

  it('of a client wait without a timeout until its caller is ready, and small responses do not wait for them', async () => {
    const body = JSON.stringify(['x'.repeat(2 * LARGE)]);
    const base = await serve((request, response) => {
      response.end(request.url === '/api/coins' ? '[]' : body);
    });
    const ready = deferred<void>();
    let waiting = 0;
    const beforeLargeBody = () => {
      waiting += 1;
      return ready.promise;
    };
    const client = exchangeOf(base, { timeoutMs: TIMEOUT_MS, attempts: 1, beforeLargeBody });
    const received: number[] = [];
    const onResponse = ({ bytes }: { bytes: Buffer }) => received.push(bytes.length);
    const large = Promise.allSettled([client.categories({ onResponse }), client.categories({ onResponse })]);
    await until(() => waiting === 1, 20_000);
    const startedAt = performance.now();
    while (performance.now() - startedAt < 2 * TIMEOUT_MS) await client.coins();
    expect([waiting, received]).toEqual([1, []]);
    ready.resolve();
    await large;
    expect([waiting, received]).toEqual([2, [body.length, body.length]]);
  });
});
