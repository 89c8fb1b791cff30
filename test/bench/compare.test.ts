import { describe, expect, it } from 'vitest';
import type { BenchFigure } from '../../bench/bench.js';
import { compareRuns, describeComparisons } from '../../bench/compare.js';

const runs = (figure: Omit<BenchFigure, 'value'>, values: readonly number[]): BenchFigure[][] =>
  values.map((value) => [{ ...figure, value }]);

const RATE = { name: 'append', unit: 'records/s' };
const DELAY = { name: 'delay, p99', unit: 'ms' };

describe('the comparison of two builds', () => {
  it('calls a rate worse only when its new median is below every former run', () => {
    const former = runs(RATE, [100, 90, 110]);
    expect(compareRuns(former, runs(RATE, [50, 90, 91]))[0]?.isWorse).toBe(false);
    expect(compareRuns(former, runs(RATE, [200, 89, 80]))[0]?.isWorse).toBe(true);
  });

  it('calls a time worse only when its new median is above every former run', () => {
    const former = runs(DELAY, [10, 9, 11]);
    expect(compareRuns(former, runs(DELAY, [11, 1, 50]))[0]?.isWorse).toBe(false);
    expect(compareRuns(former, runs(DELAY, [12, 1, 50]))[0]?.isWorse).toBe(true);
  });

  it('takes the mean of the two middle runs as the median of an even number', () => {
    const former = runs(RATE, [90, 90]);
    expect(compareRuns(former, runs(RATE, [80, 100]))[0]?.isWorse).toBe(false);
    expect(compareRuns(former, runs(RATE, [80, 99]))[0]?.isWorse).toBe(true);
  });

  it('does not judge a figure that is neither better nor worse', () => {
    const load = { name: 'frames sent', unit: 'frames', better: 'neither' } as const;
    expect(compareRuns(runs(load, [300]), runs(load, [900]))[0]?.isWorse).toBeNull();
  });

  it('pairs figures by name, and a renamed figure by its position', () => {
    const former = [
      [
        { ...RATE, value: 1 },
        { ...DELAY, value: 2 },
      ],
    ];
    const reordered = [
      [
        { ...DELAY, value: 3 },
        { ...RATE, value: 4 },
      ],
    ];
    expect(compareRuns(former, reordered).map(({ former: before }) => before)).toEqual([[2], [1]]);
    const renamed = [
      [
        { ...RATE, name: 'durable append', value: 4 },
        { ...DELAY, value: 3 },
      ],
    ];
    expect(compareRuns(former, renamed).map(({ former: before }) => before)).toEqual([[1], [2]]);
  });

  it('refuses a figure that the former build does not have', () => {
    const added = [
      [
        { ...RATE, value: 4 },
        { ...DELAY, value: 3 },
      ],
    ];
    expect(() => compareRuns(runs(RATE, [1]), added)).toThrow('no figure "delay, p99" in ms');
    expect(() => compareRuns(runs(RATE, [1]), runs({ ...RATE, unit: 'rows/s' }, [1]))).toThrow('in rows/s');
  });

  it('prints minimum, median and maximum of both builds, and which figures are worse', () => {
    const comparisons = compareRuns(runs(RATE, [1500, 900, 1000]), runs(RATE, [800, 700, 1600]));
    expect(describeComparisons(comparisons)).toEqual([
      '        former (min / median / max)  new (min / median / max)',
      'append  900 / 1,000 / 1,500          700 / 800 / 1,600         records/s  WORSE',
    ]);
  });
});
