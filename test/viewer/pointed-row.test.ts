import { describe, expect, it } from 'vitest';
import { rowAt } from '../../viewer/display/pointed-row.js';

const TIMES = [100, 200, 300];

describe('the row at the pointer', () => {
  it('of bars, candles and steps is the one that is drawn there, from its time to the next', () => {
    const at = (timeMs: number) => rowAt(TIMES, timeMs, true);
    expect([99, 100, 149, 151, 199, 200, 299, 300, 9999].map(at)).toEqual([undefined, 0, 0, 0, 0, 1, 1, 2, 2]);
    expect(rowAt([], 5, true)).toBeUndefined();
    expect(rowAt([7], 6, true)).toBeUndefined();
    expect(rowAt([7], 8, true)).toBe(0);
  });

  it('of lines and points is the nearest one, and none long before the first', () => {
    const at = (timeMs: number) => rowAt(TIMES, timeMs, false);
    expect([20, 49, 51, 99, 100, 149, 151, 249, 251, 9999].map(at)).toEqual([
      undefined,
      undefined,
      0,
      0,
      0,
      0,
      1,
      1,
      2,
      2,
    ]);
    expect(rowAt([], 5, false)).toBeUndefined();
    expect(rowAt([7], 6, false)).toBeUndefined();
  });
});
