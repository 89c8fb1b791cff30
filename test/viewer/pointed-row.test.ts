import { describe, expect, it } from 'vitest';
import { rowAt } from '../../viewer/display/pointed-row.js';

const TIMES = [100, 200, 300];

describe('the row at the pointer', () => {
  it('of steps is the one that is drawn there, from its time to the next', () => {
    const at = (timeMs: number) => rowAt(TIMES, timeMs, Number.POSITIVE_INFINITY);
    expect([99, 100, 149, 151, 199, 200, 299, 300, 9999].map(at)).toEqual([undefined, 0, 0, 0, 0, 1, 1, 2, 2]);
    expect(rowAt([], 5, Number.POSITIVE_INFINITY)).toBeUndefined();
    expect(rowAt([7], 6, Number.POSITIVE_INFINITY)).toBeUndefined();
    expect(rowAt([7], 8, Number.POSITIVE_INFINITY)).toBe(0);
  });

  it('of bars and candles is the one in whose bucket it is', () => {
    const at = (timeMs: number) => rowAt(TIMES, timeMs, 60);
    expect([99, 100, 159, 160, 200, 300, 359, 360].map(at)).toEqual([undefined, 0, 0, undefined, 1, 2, 2, undefined]);
  });

  it('of lines and points is the nearest one, and none long before the first', () => {
    const at = (timeMs: number) => rowAt(TIMES, timeMs, undefined);
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
    expect(rowAt([], 5, undefined)).toBeUndefined();
    expect(rowAt([7], 6, undefined)).toBeUndefined();
  });
});
