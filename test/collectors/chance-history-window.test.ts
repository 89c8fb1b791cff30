import { describe, expect, it } from 'vitest';
import {
  ChanceHistoryWindow,
  MAX_POINTS,
  periodEnd,
  periodSeconds,
} from '../../collectors/polls/chance-history-window.js';

describe('the window of chance history', () => {
  it('starts below the cap, grows while responses are nearly empty, and shrinks when they are not', () => {
    const window = new ChanceHistoryWindow('5s');
    expect(window.seconds / periodSeconds('5s')).toBeLessThan(MAX_POINTS);
    const before = window.seconds;
    window.answered(3);
    expect(window.seconds).toBe(before * 4);
    window.answered(5000);
    expect(window.seconds).toBe(before * 4);
    window.answered(9000);
    expect(window.seconds % 5).toBe(0);
    expect(window.seconds).toBeLessThanOrEqual(before * 2);
    expect(window.mayBeTruncated(MAX_POINTS)).toBe(true);
    expect(window.mayBeTruncated(MAX_POINTS - 1)).toBe(false);
  });

  it('shrinks down to one period and no further', () => {
    const window = new ChanceHistoryWindow('1H');
    let steps = 0;
    while (window.shrink()) steps += 1;
    expect(window.seconds).toBe(3600);
    expect(steps).toBeLessThan(20);
  });

  it('ends where periods end', () => {
    const at = Date.UTC(2025, 10, 21, 11, 37, 12) / 1000;
    const iso = (period: string) => new Date(periodEnd(period, at) * 1000).toISOString();
    expect(iso('1s')).toBe('2025-11-21T11:37:12.000Z');
    expect(iso('5M')).toBe('2025-11-21T11:35:00.000Z');
    expect(iso('3H')).toBe('2025-11-21T09:00:00.000Z');
    expect(iso('1d')).toBe('2025-11-21T00:00:00.000Z');
    expect(iso('7d')).toBe('2025-11-20T00:00:00.000Z');
    expect(iso('1m')).toBe('2025-11-01T00:00:00.000Z');
    expect(iso('90')).toBe('2025-11-21T11:36:00.000Z');
  });
});
