import { describe, expect, it } from 'vitest';
import { LiveIntervals } from '../../viewer/live-intervals.js';

const DASHBOARD_MS = 10_000;
const WINDOW_MS = 2000;
const PANEL = 'panel';

function rig() {
  let nowMs = 0;
  const intervals = new LiveIntervals(() => nowMs);
  const ask = (viewers = 1) => {
    let intervalMs = 0;
    for (let i = 0; i < viewers; i++) intervalMs = intervals.intervalMs(PANEL, DASHBOARD_MS);
    return intervalMs;
  };
  return {
    intervals,
    ask,
    measured: (queryMs: number) => intervals.measured(PANEL, queryMs),
    pass: (ms = WINDOW_MS) => {
      nowMs += ms;
    },
  };
}

describe('the interval of a panel that shows the present', () => {
  it('is that of its dashboard until a query is measured; the next one follows the time of the query', () => {
    const { ask, measured, intervals, pass } = rig();
    expect(ask()).toBe(DASHBOARD_MS);
    measured(20);
    expect(intervals.nextMs(PANEL, DASHBOARD_MS)).toBe(500);
    expect(ask()).toBe(DASHBOARD_MS);
    pass();
    expect(ask()).toBe(500);
  });

  it.each([
    [1, 500],
    [75, 500],
    [76, 1000],
    [101, 2000],
    [201, DASHBOARD_MS],
  ])('is shorter the faster its query is: %i ms, %i ms', (queryMs, expected) => {
    const { ask, measured, pass } = rig();
    ask();
    measured(queryMs);
    pass();
    expect(ask()).toBe(expected);
  });

  it('is longer for many viewers, and short again some time after they have left', () => {
    const { ask, measured, pass } = rig();
    ask(40);
    measured(1);
    pass();
    expect(ask(40)).toBe(1000);
    pass();
    ask(200);
    pass();
    expect(ask(200)).toBe(DASHBOARD_MS);
    const seen = [];
    for (let window = 0; window < 30; window++) {
      pass();
      seen.push(ask());
    }
    expect(new Set(seen)).toEqual(new Set([DASHBOARD_MS, 2000, 1000, 500]));
    expect(seen.at(-1)).toBe(500);
  });

  it('does not change within two seconds, so that all viewers of a panel share its queries', () => {
    const { ask, measured, pass } = rig();
    ask();
    measured(1);
    pass();
    const first = ask();
    measured(10_000);
    for (let i = 0; i < 3; i++) {
      pass(500);
      expect(ask(100)).toBe(first);
    }
    pass(500);
    expect(ask()).toBe(DASHBOARD_MS);
  });

  it('is never longer than that of the dashboard', () => {
    const { intervals, measured, ask, pass } = rig();
    ask();
    measured(76);
    pass();
    expect(intervals.intervalMs(PANEL, 300)).toBe(300);
    expect(intervals.nextMs(PANEL, 300)).toBe(300);
  });
});
