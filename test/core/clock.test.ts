import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../core/clock.js';

const HOUR_MS = 3_600_000;

/** A clock on a system whose time and monotonic time the test sets, milliseconds. */
function clockOf(system: { wall: number; mono: number }): SystemClock {
  return new SystemClock(
    () => Math.floor(system.wall),
    () => system.mono,
  );
}

describe('a change of the system time', () => {
  it('of an hour forward is followed at once', () => {
    const system = { wall: 1e12, mono: 5 };
    const clock = clockOf(system);
    expect(clock.nowMs()).toBe(1e12);
    system.wall += HOUR_MS + 1000;
    system.mono += 1000;
    expect(clock.nowMs()).toBe(1e12 + HOUR_MS + 1000);
  });

  it('of an hour back makes our time run at half its rate until the system has reached it', () => {
    const system = { wall: 1e12, mono: 5 };
    const clock = clockOf(system);
    expect(clock.nowMs()).toBe(1e12);
    system.wall -= HOUR_MS;
    let last = clock.nowMicros();
    const startedAtMs = last / 1000;
    for (let second = 1; second <= 7300; second++) {
      system.wall += 1000;
      system.mono += 1000;
      const now = clock.nowMicros();
      expect(now).toBeGreaterThanOrEqual(last);
      if (second === 3600) expect(now / 1000 - startedAtMs).toBeCloseTo(HOUR_MS / 2, -1);
      last = now;
    }
    expect(last / 1000).toBe(system.wall);
  });

  it('does not affect durations', () => {
    const system = { wall: 1e12, mono: 5 };
    const clock = clockOf(system);
    const before = clock.elapsedMs();
    for (const jump of [HOUR_MS, -2 * HOUR_MS]) {
      system.wall += jump;
      system.mono += 10;
    }
    expect(clock.elapsedMs() - before).toBe(20);
  });
});
