import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Schedules } from '../../collectors/schedules.js';
import { collectSettings, createLogger, resolveConfig } from '../../core/index.js';

const HOUR_MS = 3_600_000;

describe('a schedule of every 10 seconds', () => {
  beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 5, 1, 12) }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ])('continues when the system time is set %s by an hour', async (_, jumpMs) => {
    const settings = collectSettings(resolveConfig({}).settings);
    const schedules = new Schedules(settings, createLogger({ service: 'collect', level: 'fatal' }));
    let runs = 0;
    schedules.add('events', () => {
      runs += 1;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs).toBe(7);
    vi.setSystemTime(Date.now() + jumpMs);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs).toBeGreaterThanOrEqual(12);
    await schedules.stop();
  });
});
