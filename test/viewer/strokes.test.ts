import { describe, expect, it } from 'vitest';
import { Random } from '../../core/index.js';
import { traceAreas } from '../../viewer/display/series-shapes.js';
import {
  areaOf,
  barsOf,
  bucketWidth,
  candlesOf,
  closedBand,
  completenessOf,
  isCompleteness,
  missingStretches,
  sharedCompleteness,
  strokesOf,
} from '../../viewer/display/strokes.js';
import { randomGapPattern } from './gap-pattern.js';

const WIDTH = 10;
const PATTERNS = 1000;

type Pattern = ReturnType<typeof randomPattern>;

function randomPattern(random: Random) {
  const { completeness, ...pattern } = randomGapPattern(random, WIDTH);
  return { ...pattern, ...completeness };
}

const patterns = (): Pattern[] => {
  const random = new Random(14, 'gaps');
  return Array.from({ length: PATTERNS }, () => randomPattern(random));
};

/** The missing buckets that a stretch of time enters. */
const entered = ({ times, missing }: Pattern, from: number, to: number): number[] =>
  times.filter((time, i) => missing[i] === 1 && from < time + WIDTH && to > time);

/** The bucket of each observed value, with whether the time of all of it is drawn. */
const undrawn = ({ times, values, missing }: Pattern, drawn: readonly (readonly [number, number])[]): number[] =>
  times.filter(
    (time, i) =>
      values[i] !== null && missing[i] !== 1 && !drawn.some(([from, to]) => from <= time && to >= time + WIDTH),
  );

describe('a line over buckets of which some are missing', () => {
  it.each([true, false])(
    'never enters a missing bucket, and covers every observed one with a value (steps: %s)',
    (step) => {
      for (const pattern of patterns()) {
        const { times, values, missing } = pattern;
        const lines = strokesOf({ times, values, bucketMs: WIDTH, completeness: { missing }, step, spanNulls: true });
        const drawn = lines.map((line) => [line[0] ?? 0, line.at(-2) ?? 0] as const);
        const within = drawn.flatMap(([from, to]) => entered(pattern, from, to));
        const backwards = lines.filter((line) => line.some((x, i) => i % 2 === 0 && x < (line[i - 2] ?? 0)));
        expect([within, undrawn(pattern, drawn), backwards]).toEqual([[], [], []]);
      }
    },
  );

  it('holds the last value to the end of its bucket, in steps or straight', () => {
    const options = { times: [0, 10, 20, 30], values: [1, 3, null, 2], bucketMs: 10, spanNulls: false };
    const completeness = { missing: [0, 0, 1, 0.5] };
    expect(strokesOf({ ...options, completeness, step: true })).toEqual([
      [0, 1, 10, 1, 10, 3, 20, 3],
      [30, 2, 40, 2],
    ]);
    expect(strokesOf({ ...options, completeness, step: false })).toEqual([
      [0, 1, 10, 3, 20, 3],
      [30, 2, 40, 2],
    ]);
  });

  it('without completeness, spans buckets without a value as spanNulls says', () => {
    const options = { times: [0, 10, 20, 30], values: [1, null, null, 2], bucketMs: 10, completeness: undefined };
    const spans = (spanNulls: boolean | number) => strokesOf({ ...options, step: false, spanNulls });
    expect(spans(false)).toEqual([
      [0, 1],
      [30, 2],
    ]);
    expect(spans(true)).toEqual([[0, 1, 30, 2]]);
    expect(spans(31)).toEqual([[0, 1, 30, 2]]);
    expect(spans(30)).toHaveLength(2);
  });
});

it('the buckets of a query may be wider than those of its panel, and are narrower only where they are known to be buckets', () => {
  expect(bucketWidth([0, 60, 60, 180], 5, false)).toBe(60);
  expect(bucketWidth([0, 3, 60], 5, false)).toBe(5);
  expect(bucketWidth([0, 3, 60], 5, true)).toBe(3);
  expect([bucketWidth([7], 5, true), bucketWidth([7, 7], 5, true)]).toEqual([5, 5]);
});

it('rows without completeness have that of another query with the same buckets', () => {
  const rows = (times: number[], bucketMs = 10) => ({ times, bucketMs, completeness: undefined });
  const other = { ...rows([0, 10, 20, 30]), completeness: { missing: [0, 1, 0.5, null] } };
  const shared = (own: ReturnType<typeof rows>) => sharedCompleteness(own, [own, other])?.missing;
  expect(shared(rows([10, 20, 30]))).toEqual([1, 0.5, null]);
  expect([rows([0, 20]), rows([0, 15]), rows([30, 40]), rows([0, 10], 5)].map(shared)).toEqual(
    new Array(4).fill(undefined),
  );
  expect(sharedCompleteness(rows([0]), [other, other])).toBeUndefined();
  expect(sharedCompleteness(other, [other, other])).toBe(other.completeness);
});

describe('the area between two series', () => {
  const options = { times: [0, 10, 20, 30], values: [3, 4, 5, null], bucketMs: 10, completeness: undefined };

  it('is where both have a value', () => {
    expect(areaOf({ ...options, step: false, spanNulls: false }, [1, null, 2, 3])).toEqual({
      upper: [
        [0, 3],
        [20, 5],
      ],
      lower: [
        [0, 1],
        [20, 2],
      ],
    });
  });

  it('has bounds with the same times, and never enters a missing bucket', () => {
    for (const pattern of patterns()) {
      const { times, values, missing } = pattern;
      const below = values.map((value) => (value === null || value < 0.2 ? null : value / 2));
      for (const step of [false, true]) {
        const { upper, lower } = areaOf(
          { times, values, bucketMs: WIDTH, completeness: { missing }, step, spanNulls: true },
          below,
        );
        const timesOf = (lines: readonly (readonly number[])[]) =>
          lines.map((line) => line.filter((_, i) => i % 2 === 0));
        expect(timesOf(lower)).toEqual(timesOf(upper));
        const stretches = timesOf(upper).map((line) => [line[0] ?? 0, line.at(-1) ?? 0] as const);
        expect(stretches.flatMap(([from, to]) => entered(pattern, from, to))).toEqual([]);
      }
    }
  });

  it('is traced along the upper line and back along the lower one', () => {
    const steps: (string | number)[][] = [];
    const step =
      (name: string) =>
      (...at: number[]) =>
        void steps.push([name, ...at]);
    const path = { moveTo: step('move'), lineTo: step('line'), rect: step('rect'), closePath: step('close') };
    traceAreas({ upper: [[0, 3, 10, 4]], lower: [[0, 1, 10, 2]] }, { x: (at) => at, y: (value) => -value }, path);
    expect(steps).toEqual([['move', 0, -3], ['line', 10, -4], ['line', 10, -2], ['line', 0, -1], ['close']]);
  });
});

describe('a stack of which a series begins after the others, or ends before them', () => {
  const [times, below] = [
    [0, 10, 20, 30, 40],
    [5, 6, 7, 8, 0],
  ];
  const isPresent = [true, true, true, true, false];
  const bandOf = (values: (number | null)[], step: boolean) => {
    const band = closedBand(values, below, isPresent, step);
    return areaOf({ times, values: band, bucketMs: 10, completeness: undefined, step, spanNulls: false }, below);
  };

  it('has no hole: the height falls to zero at the next row, or within the interval of straight lines', () => {
    expect(bandOf([6, 8, null, null, null], true)).toEqual({
      upper: [[0, 6, 10, 6, 10, 8, 20, 8, 20, 7]],
      lower: [[0, 5, 10, 5, 10, 6, 20, 6, 20, 7]],
    });
    expect(bandOf([6, 8, null, null, null], false)).toEqual({
      upper: [[0, 6, 10, 8, 20, 7]],
      lower: [[0, 5, 10, 6, 20, 7]],
    });
    expect(bandOf([null, null, 9, 10, null], true).upper).toEqual([[20, 9, 30, 9, 30, 10]]);
    expect(bandOf([null, null, 9, 10, null], false).upper).toEqual([[10, 6, 20, 9, 30, 10]]);
  });

  it('is not drawn where no series has a value', () => {
    expect(closedBand([6, 8, 9, 10, null], below, isPresent, true)).toEqual([6, 8, 9, 10, null]);
  });
});

describe('bars and candles over buckets of which some are missing', () => {
  it('are never in a missing bucket, and are in every observed one with a value', () => {
    for (const pattern of patterns()) {
      const { times, values, missing } = pattern;
      const bars = barsOf(times, values, WIDTH, { missing }, undefined);
      const columns = { open: values, high: values, low: values, close: values };
      const candles = candlesOf(times, columns, WIDTH, { missing });
      expect([...bars, ...candles].flatMap(({ from, to }) => entered(pattern, from, to))).toEqual([]);
      expect(
        undrawn(
          pattern,
          bars.map(({ from, to }) => [from, to]),
        ),
      ).toEqual([]);
      expect(
        undrawn(
          pattern,
          candles.map(({ from, to }) => [from, to]),
        ),
      ).toEqual([]);
    }
  });

  it('an observed bucket without a change is a dash at the last close, but not after a missing one', () => {
    const close = [2, null, null, null, 3];
    const candles = candlesOf([0, 10, 20, 30, 40], { open: close, high: close, low: close, close }, 10, {
      missing: [0, 0.2, 1, 0, 0],
    });
    expect(candles.map(({ from, close, idle }) => [from, close, idle])).toEqual([
      [0, 2, false],
      [10, 2, true],
      [40, 3, false],
    ]);
  });

  it('a stacked bar begins where the bars below it end', () => {
    expect(barsOf([0, 10], [1, 2], 10, undefined, [5, 0])).toEqual([
      { from: 0, to: 10, low: 5, high: 6 },
      { from: 10, to: 20, low: 0, high: 2 },
    ]);
  });
});

describe('what is hatched', () => {
  it('is every bucket of which a part is missing, neighbours of one kind together', () => {
    const completeness = { missing: [0, 1, 1, 0.5, null, 1e-12, 1] };
    expect(missingStretches([0, 10, 20, 30, 40, 50, 60], 10, completeness)).toEqual([
      { from: 10, to: 30, all: true },
      { from: 30, to: 40, all: false },
      { from: 60, to: 70, all: true },
    ]);
  });

  it('follows from the column of the frame that ends with missing', () => {
    const field = (name: string) => ({ name, kind: 'number' as const, values: [0.5, null] });
    expect(completenessOf({ refId: 'A', fields: [field('price'), field('price_missing')] })).toEqual({
      missing: [0.5, null],
    });
    expect(completenessOf({ refId: 'A', fields: [field('price')] })).toBeUndefined();
    expect(['observed', 'chance_backfilled', 'missing', 'unobserved', 'price'].map(isCompleteness)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
