import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot, Random } from '../../core/index.js';
import { axisSteps, numberLabels, tickSpace } from '../../viewer/display/axis-labels.js';
import { groupBarsOf } from '../../viewer/display/bar-groups.js';
import { textColorOn } from '../../viewer/display/colors.js';
import { displaysOf, formatValue } from '../../viewer/display/fields.js';
import { cellOpacity, cellsOfRows, countedCells, withoutMissing } from '../../viewer/display/heat-cells.js';
import { bucketConfig, bucketFrame, histogramOf, roundWidth } from '../../viewer/display/histogram.js';
import { bandsOf } from '../../viewer/display/state-bands.js';
import { missingStretches } from '../../viewer/display/strokes.js';
import { thresholdBands, thresholdStyleOf } from '../../viewer/display/threshold-bands.js';
import { undrawnOptions } from '../../viewer/display/undrawn-options.js';
import { xyPointsOf, xySeriesOf } from '../../viewer/display/xy-points.js';
import type { Frame } from '../../viewer/frames.js';
import { PANEL_TYPES } from '../../viewer/index.js';
import { type GapPattern, randomGapPattern } from './gap-pattern.js';

const WIDTH = 10;

const random = new Random(14, 'gaps of panels');
const patterns = Array.from({ length: 1000 }, () =>
  randomGapPattern(random, WIDTH, () => Math.floor(random.next() * 3)),
);

interface Stretch {
  readonly from: number;
  readonly to: number;
}

const isWithin = ({ times, completeness }: GapPattern, { from, to }: Stretch): boolean =>
  times.some((time, i) => completeness.missing[i] === 1 && from < time + WIDTH && to > time);

/** The buckets with a value that no stretch covers. */
const uncovered = ({ times, values, completeness }: GapPattern, drawn: readonly Stretch[]): number[] =>
  times.filter(
    (time, i) =>
      values[i] !== null &&
      completeness.missing[i] !== 1 &&
      !drawn.some(({ from, to }) => from <= time && to >= time + WIDTH),
  );

describe('buckets of which some are missing', () => {
  it.each([true, false])(
    'have bands where they are observed, and none where they are missing (merged: %s)',
    (merge) => {
      for (const pattern of patterns) {
        const bands = bandsOf({ ...pattern, bucketMs: WIDTH, end: 1000, merge });
        expect([bands.filter((band) => isWithin(pattern, band)), uncovered(pattern, bands)]).toEqual([[], []]);
      }
    },
  );

  it('have cells where they are observed, and none where they are missing', () => {
    for (const pattern of patterns) {
      const cells = cellsOfRows({ ...pattern, bucketMs: WIDTH }, [pattern.values]);
      expect([cells.filter((cell) => isWithin(pattern, cell)), uncovered(pattern, cells)]).toEqual([[], []]);
    }
  });

  it('have no counted cell where they are missing, however wide it is', () => {
    for (const pattern of patterns) {
      const rows = { ...pattern, bucketMs: WIDTH };
      const missing = missingStretches(pattern.times, WIDTH, pattern.completeness);
      const counted = countedCells(rows, [pattern.values], 70, 1);
      const drawn = withoutMissing(counted, missing);
      const observed = pattern.values.filter((value, i) => value !== null && pattern.completeness.missing[i] !== 1);
      expect(counted.reduce((sum, { value }) => sum + value, 0)).toBe(observed.length);
      expect([drawn.filter((cell) => isWithin(pattern, cell)), uncovered(pattern, drawn)]).toEqual([[], []]);
    }
  });
});

describe('a band', () => {
  it('without completeness, holds until the next row, and the last one until the end of the time range', () => {
    const options = { times: [0, 10, 40, 50], bucketMs: 10, completeness: undefined, end: 90 };
    expect(bandsOf({ ...options, values: ['a', 'a', null, 'b'], merge: true })).toEqual([
      { from: 0, to: 40, value: 'a' },
      { from: 50, to: 90, value: 'b' },
    ]);
    expect(bandsOf({ ...options, values: ['a', 'a', null, 'b'], merge: false })).toHaveLength(3);
  });
});

describe('a histogram', () => {
  it('counts each value once, in buckets of a rounded width', () => {
    expect(histogramOf([[0.1, 0.2, 0.3, 0.3, 0.9]], { count: 10 })).toEqual(
      [1, 1, 2, 0, 0, 0, 0, 0, 1].map((count, i) => ({
        from: Number(((i + 1) / 10).toPrecision(12)),
        to: Number(((i + 2) / 10).toPrecision(12)),
        counts: [count],
      })),
    );
    expect([0.07, 0.2, 0.21, 3, 1000].map(roundWidth)).toEqual([0.1, 0.2, 0.25, 5, 1000]);
  });

  it('has the width and offset of its options, and a bounded number of buckets', () => {
    expect(histogramOf([[1], [6, 7]], { width: 5, offset: 1 })).toEqual([
      { from: 1, to: 6, counts: [1, 0] },
      { from: 6, to: 11, counts: [0, 2] },
    ]);
    expect(histogramOf([[0, 1e9]], { width: 1e-9 }).length).toBeLessThanOrEqual(1001);
    expect(histogramOf([[]], {})).toEqual([]);
    expect(histogramOf([[4, 4]], {}).map(({ counts }) => counts)).toEqual([[2]]);
  });
});

describe('a histogram as a table', () => {
  it('lists the buckets that are drawn, in the unit of the values, with their counts', () => {
    const buckets = histogramOf([[1], [6, 7]], { width: 5, offset: 1 });
    const displays = displaysOf([bucketFrame(buckets, ['bids', 'asks'])], bucketConfig('suffix:USDC', 2, 'none'));
    const shown = displays.map((display) => [
      display.name,
      ...display.field.values.map((value) => formatValue(value, display)).map(({ text, suffix }) => text + suffix),
    ]);
    expect(shown).toEqual([
      ['From', '1.00 USDC', '6.00 USDC'],
      ['To', '6.00 USDC', '11.00 USDC'],
      ['bids', '1', '0'],
      ['asks', '0', '2'],
    ]);
  });
});

describe('a cell of a heat map', () => {
  it('of nothing has no color, and of little clearly more than none', () => {
    expect(cellOpacity(0, 0, 1, 1)).toBe(0);
    expect(cellOpacity(1e-6, 0, 1, 1)).toBeGreaterThan(0.2);
    expect(cellOpacity(1, 0, 1, 1)).toBe(1);
    expect(cellOpacity(3, 3, 8, 1)).toBeGreaterThan(0.2);
  });
});

describe('the bars of a bar chart', () => {
  const columns = [
    [1, -2, 5],
    [3, -4, 5],
  ];
  const spans = (stacking: 'none' | 'normal' | 'percent', missing?: number[]) =>
    groupBarsOf({ columns, stacking, groupWidth: 1, completeness: missing && { missing } }).map(
      ({ row, left, right, low, high }) => [row, left, right, low, high],
    );

  it('are side by side', () => {
    expect(spans('none').slice(0, 3)).toEqual([
      [0, 0, 0.5, 0, 1],
      [0, 0.5, 1, 0, 3],
      [1, 1, 1.5, -2, 0],
    ]);
  });

  it('are stacked away from zero, or as fractions of their sum', () => {
    expect(spans('normal').slice(0, 4)).toEqual([
      [0, 0, 1, 0, 1],
      [0, 0, 1, 1, 4],
      [1, 1, 2, -2, 0],
      [1, 1, 2, -6, -2],
    ]);
    expect(spans('percent').slice(0, 2)).toEqual([
      [0, 0, 1, 0, 0.25],
      [0, 0, 1, 0.25, 1],
    ]);
  });

  it('are absent from a row that is missing', () => {
    expect(spans('normal', [0, 1, 0.5]).map(([row]) => row)).toEqual([0, 0, 2, 2]);
  });
});

describe('the points of an xychart', () => {
  const number = (name: string, values: (number | null)[]) => ({ name, kind: 'number' as const, values });
  const frame: Frame = {
    refId: 'A',
    fields: [number('a', [1, 2, 3]), number('b', [4, null, 6]), number('c', [7, 8, 9]), number('missing', [0, 0, 1])],
  };
  const pairs = (options: Record<string, unknown>) =>
    xySeriesOf([frame], options).map((series) => [series.x.name, series.y.name, series.name]);
  const byName = (name: string) => ({ matcher: { id: 'byName', options: name } });

  it('are of each number over the first one, or of the fields that the options name in either form', () => {
    expect(pairs({})).toEqual([
      ['a', 'b', undefined],
      ['a', 'c', undefined],
    ]);
    expect(pairs({ mapping: 'manual', series: [{ x: byName('c'), y: byName('b'), name: { fixed: 'N' } }] })).toEqual([
      ['c', 'b', 'N'],
    ]);
    expect(
      pairs({
        seriesMapping: 'manual',
        series: [
          { x: 'b', y: 'a' },
          { x: 'b', y: 'nothing' },
        ],
      }),
    ).toEqual([['b', 'a', undefined]]);
    expect(pairs({ dims: { x: 'c' } })).toEqual([
      ['c', 'a', undefined],
      ['c', 'b', undefined],
    ]);
  });

  it('are absent where a number is, and where the row is missing', () => {
    const [b, c] = xySeriesOf([frame], {});
    expect(b && xyPointsOf(b)).toEqual([{ x: 1, y: 4, row: 0 }]);
    expect(c && xyPointsOf(c).map(({ y }) => y)).toEqual([7, 8]);
  });
});

describe('the thresholds of a chart over time', () => {
  const display = (mode: string | undefined, steps: readonly unknown[], thresholdsMode = 'absolute') => {
    const field = { name: 'value', kind: 'number' as const, values: [1] };
    const defaults = { custom: { thresholdsStyle: { mode } }, thresholds: { mode: thresholdsMode, steps } };
    const [found] = displaysOf([{ refId: 'A', fields: [field] }], { defaults, overrides: [] });
    if (!found) throw new Error('there is no display');
    return found;
  };
  const steps = [
    { color: 'green', value: null },
    { color: 'red', value: 40 },
  ];

  it('are drawn as their style says', () => {
    const style = (mode: string | undefined, of = steps) => thresholdStyleOf(display(mode, of));
    expect([style('off'), style(undefined), style('line', [])]).toEqual([undefined, undefined, undefined]);
    expect(style('line')).toEqual({ lines: 'solid', hasAreas: false });
    expect(style('area')).toEqual({ lines: undefined, hasAreas: true });
    expect(style('dashed+area')).toEqual({ lines: 'dashed', hasAreas: true });
  });

  it('begin at their values, or at that part of the axis', () => {
    const green = { color: 'green', from: undefined };
    expect(thresholdBands(display('line', steps), [10, 60])).toEqual([
      { ...green, to: 40 },
      { color: 'red', from: 40, to: undefined },
    ]);
    expect(thresholdBands(display('line', steps, 'percentage'), [10, 60])).toEqual([
      { ...green, to: 30 },
      { color: 'red', from: 30, to: undefined },
    ]);
  });
});

describe('the options that are not drawn', () => {
  const undrawn = (type: string, options: Record<string, unknown>, custom = {}, property?: [string, unknown]) =>
    undrawnOptions({
      type,
      options,
      fieldConfig: {
        defaults: { custom },
        overrides: property
          ? [{ matcher: { id: 'byName', options: 'a' }, properties: [{ id: property[0], value: property[1] }] }]
          : [],
      },
    });

  it('are named, whether they are set for all fields or for some', () => {
    const log = { scaleDistribution: { type: 'log', log: 2 } };
    expect(undrawn('timeseries', {}, log)).toEqual(['a logarithmic axis']);
    expect(undrawn('stat', { graphMode: 'area' })).toEqual(['a sparkline']);
    expect(undrawn('stat', { graphMode: 'none' })).toEqual([]);
    expect(undrawn('barchart', { showValue: 'always' })).toEqual(['values on bars']);
    expect(undrawn('barchart', {}, {}, ['custom.scaleDistribution', { type: 'symlog' }])).toEqual([
      'a logarithmic axis',
    ]);
    expect(undrawn('timeseries', {}, { transform: 'negative-Y', stacking: { mode: 'percent' } })).toEqual([
      'negated values',
      'stacking to 100%',
    ]);
    expect(
      undrawn('heatmap', { yAxis: { reverse: true }, calculation: { yBuckets: { scale: { type: 'log' } } } }),
    ).toEqual(['logarithmic buckets', 'a reversed axis']);
    expect(
      undrawn('xychart', {
        series: [{ size: { matcher: { id: 'byName', options: 's' } }, pointColor: { fixed: 'red' } }],
      }),
    ).toEqual(['point sizes by a field']);
  });

  it('are none of a panel as Grafana makes it', () => {
    expect(undrawn('timeseries', {}, { scaleDistribution: { type: 'linear' }, stacking: { mode: 'normal' } })).toEqual(
      [],
    );
    expect(undrawn('heatmap', { calculate: true, yAxis: { reverse: false }, calculation: {} })).toEqual([]);
    expect(undrawn('histogram', {}, { stacking: { group: 'A', mode: 'none' } })).toEqual([]);
    expect(undrawn('table', {}, { anything: 1 })).toEqual([]);
  });
});

describe('the text on a color', () => {
  it('is black on bright colors and white on dark ones, also where the background shows through', () => {
    expect(textColorOn('#f0e442', 0.7, 'dark')).toBe('#000000');
    expect(textColorOn('#7a36a6', 0.7, 'dark')).toBe('#ffffff');
    expect(textColorOn('#0072b2', 1, 'light')).toBe('#ffffff');
    expect(textColorOn('#0072b2', 0.3, 'light')).toBe('#000000');
    // Drawn as rgb(144, 76, 144), on which white has a contrast of 5.8, black of 3.6.
    expect(textColorOn('#610061', 0.7, 'light')).toBe('#ffffff');
  });
});

describe('the labels of an axis', () => {
  it('are in one unit of time, also where their distance is less than a second', () => {
    expect(numberLabels('s', [0, 0.5, 1, 1.5])).toEqual(['0.0 s', '0.5 s', '1.0 s', '1.5 s']);
    expect(numberLabels('ms', [0, 500, 1000])).toEqual(['0.0 s', '0.5 s', '1.0 s']);
  });

  it('have the decimals that their distance needs', () => {
    expect(numberLabels(undefined, [0, 2.5, 5])).toEqual(['0.0', '2.5', '5.0']);
    expect(numberLabels(undefined, [0, 20, 40])).toEqual(['0', '20', '40']);
    expect(numberLabels('percentunit', [0, 0.25, 0.5])).toEqual(['0%', '25%', '50%']);
    expect(numberLabels('s', [0, 30, 60, 90])).toEqual(['0 s', '30 s', '60 s', '90 s']);
    expect(numberLabels('ms', [0, 300_000])).toEqual(['0 min', '5 min']);
    expect(axisSteps('ms')).toEqual(expect.arrayContaining([0.5, 15_000, 60_000, 7_200_000]));
    expect(numberLabels(undefined, [0.1, 0.15, 0.2])).toEqual(['0.10', '0.15', '0.20']);
  });

  it('differ, however small their distance is', () => {
    expect(numberLabels(undefined, [0, 5e-8, 1e-7, 1.5e-7])).toEqual(['0', '5e−8', '1e−7', '1.5e−7']);
    expect(numberLabels('suffix:USDC', [-2e-9, 0])).toEqual(['−2e−9 USDC', '0 USDC']);
    expect(numberLabels(undefined, [1, 1 + 1e-8])).toEqual(['1.00000000', '1.00000001']);
    expect(numberLabels(undefined, [1e9, 1e9 + 0.001])).toEqual(['1,000,000,000.000', '1,000,000,000.001']);
  });

  it('differ where every number has a scale of its own', () => {
    expect(numberLabels('short', [0, 500, 1000, 1200])).toEqual(['0', '500', '1 K', '1.20 K']);
    expect(numberLabels('short', [1000, 1100, 1200])).toEqual(['1 K', '1.10 K', '1.20 K']);
    expect(numberLabels('short', [0, 2500, 5000])).toEqual(['0', '2.50 K', '5 K']);
    expect(numberLabels('short', [10_050, 10_060])).toEqual(['10.05 K', '10.06 K']);
    expect(numberLabels('bytes', [0, 1024, 1536])).toEqual(['0 B', '1 KiB', '1.50 KiB']);
  });

  it('have room beside each other on a horizontal axis', () => {
    expect(tickSpace(undefined, 0, 10, 600)).toBe(50);
    expect(tickSpace(undefined, 1e9, 5e9, 600)).toBeGreaterThan('1,000,000,000'.length * 6);
  });
});

describe('docs/dashboards.md', () => {
  it('names every type of panel', () => {
    const text = readFileSync(join(packageRoot(), 'docs/dashboards.md'), 'utf8');
    expect(PANEL_TYPES.filter((type) => !text.includes(`\`${type}\``))).toEqual([]);
  });
});
