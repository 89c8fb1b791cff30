import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CollectorEventWriter } from '../../collectors/collector-event-writer.js';
import type { Publisher } from '../../collectors/publisher.js';
import { systemClock } from '../../core/index.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A publisher that counts records and blocks until it is released. */
function counting() {
  const state = { signs: 0, open: true, bodies: [] as string[] };
  const publisher: Pick<Publisher, 'sessionId' | 'acknowledged' | 'watermark' | 'publish'> = {
    sessionId: '3b1f0000-0000-4000-8000-000000000001',
    acknowledged: {},
    watermark: 1,
    publish: ({ bodyJson }) => {
      state.signs += 1;
      state.bodies.push(bodyJson);
      return state.open ? Promise.resolve() : new Promise(() => undefined);
    },
  };
  return { state, found: new CollectorEventWriter(publisher as Publisher, systemClock) };
}

describe('the heartbeats of a session', () => {
  it('are written at least once per second, until they are stopped', async () => {
    const { state, found } = counting();
    found.startHeartbeat();
    for (let second = 0; second < 60; second++) {
      const before = state.signs;
      await vi.advanceTimersByTimeAsync(1000);
      expect(state.signs).toBeGreaterThan(before);
    }
    found.stopHeartbeat();
    const before = state.signs;
    await vi.advanceTimersByTimeAsync(5000);
    expect(state.signs).toBe(before);
  });

  it('have the time of the last frame of each open connection', async () => {
    const { state, found } = counting();
    const of = { stream: 'order-book', connectionId: 'c1' } as const;
    const lastFrames = async () => {
      await found.heartbeat();
      return (JSON.parse(state.bodies.at(-1) ?? '{}') as { lastFrames?: unknown }).lastFrames;
    };
    expect(await lastFrames()).toEqual({});
    await found.write({ type: 'connected', ...of, url: 'ws://127.0.0.1/' }, 5);
    await found.write({ type: 'connected', ...of, connectionId: 'c2', url: 'ws://127.0.0.1/' }, 6);
    expect(await lastFrames()).toEqual({ c1: 5, c2: 6 });
    found.onComplete('c1', 17);
    expect(await lastFrames()).toEqual({ c1: 17, c2: 6 });
    // A frame that was read late is complete up to an earlier time than a poll has verified.
    found.onComplete('c1', 12);
    expect(await lastFrames()).toEqual({ c1: 17, c2: 6 });
    await found.write({ type: 'disconnected', ...of, cause: 'reset' }, 17);
    found.onComplete('c1', 18);
    expect(await lastFrames()).toEqual({ c2: 6 });
  });

  it('do not accumulate while the bus accepts nothing', async () => {
    const { state, found } = counting();
    state.open = false;
    found.startHeartbeat();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(state.signs).toBe(1);
    found.stopHeartbeat();
  });
});
