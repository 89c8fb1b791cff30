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

/** A publisher that counts, and lets nothing through until it is told to. */
function counting() {
  const state = { signs: 0, open: true };
  const publisher: Pick<Publisher, 'sessionId' | 'acknowledged' | 'watermark' | 'publish'> = {
    sessionId: '3b1f0000-0000-4000-8000-000000000001',
    acknowledged: {},
    watermark: 1,
    publish: () => {
      state.signs += 1;
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

  it('do not accumulate while the bus accepts nothing', async () => {
    const { state, found } = counting();
    state.open = false;
    found.startHeartbeat();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(state.signs).toBe(1);
    found.stopHeartbeat();
  });
});
