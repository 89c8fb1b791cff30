import { colorOf, type Theme } from '../display/colors.js';
import { asNumber, asRecord, asText } from '../display/fields.js';
import { cellOpacity, cellsOfRows, countedCells, type HeatCell, withoutMissing } from '../display/heat-cells.js';
import { roundWidth } from '../display/histogram.js';
import { durationMs } from '../display/relative-time.js';
import { missingStretches } from '../display/strokes.js';
import { formatNumber, formatTime } from '../display/units.js';
import { h } from './dom.js';
import { drawEmpty, type NumberColumn, numberColumnsOf, translucent } from './number-columns.js';
import type { Drawn, PanelContext } from './panel-context.js';
import { drawPlot, type PlotArea, type PlotAxis } from './plot.js';
import { type TimeFrame, timeFrameOf } from './time-chart/chart-data.js';
import { drawBackground } from './time-chart/layers.js';
import { missingKey } from './time-chart/legend.js';

/** From the lowest to the highest value, on a dark background; brightness grows evenly, also for colour-blind people. */
const RAMP = ['#443983', '#31688e', '#21918c', '#35b779', '#90d743', '#fde725'];
const BUCKETS_IN_RANGE = 30;
const ROWS_IN_EXTENT = 20;

/** A cell per bucket and row; its color shows a value, or how many values lie in it. */
export function drawHeatmap(context: PanelContext): Drawn {
  const { options } = context.panel;
  const frames = context.frames.flatMap((frame) => timeFrameOf(frame, context) ?? []);
  const columns = numberColumnsOf(context);
  const isCounted = options['calculate'] === true;
  const missing = frames.flatMap(({ times, bucketMs, completeness }) =>
    completeness ? missingStretches(times, bucketMs, completeness) : [],
  );
  const least = asNumber(asRecord(options['filterValues'])['le']) ?? 1e-9;
  const all = isCounted ? counted(frames, columns, context) : rowsOf(frames, columns);
  const cells = withoutMissing(all, missing).filter(({ value }) => isCounted || value > least);
  if (columns.length === 0 || frames.length === 0) return drawEmpty(context);
  const palette = paletteOf(cells, options, context.theme);
  const text = (value: number) => {
    const { display } = columns[0] ?? {};
    const { unit, decimals } = asRecord(options['cellValues']);
    const formatted = isCounted
      ? formatNumber(value, undefined, 0)
      : formatNumber(value, asText(unit) || display?.unit, asNumber(decimals) ?? display?.decimals);
    return `${formatted.text}${formatted.suffix}`;
  };
  const unit = asText(asRecord(options['yAxis'])['unit']) || columns[0]?.display.unit;
  const boundary = (value: number) => {
    const formatted = formatNumber(value, unit, undefined);
    return `${formatted.text}${formatted.suffix}`;
  };
  return drawPlot(
    {
      x: { kind: 'time', range: [context.from, context.to] },
      y: axisOf(cells, columns, isCounted, unit),
      note: frames.some(({ completeness }) => completeness) ? '' : 'completeness not known',
      legend: scaleOf(palette, text, missing.length > 0),
      draw: (area) => {
        for (const cell of cells) fillCell(area, cell, palette);
        // Of a bucket with cells a part may be missing: its hatching is above them.
        drawBackground(area.plot, missing, context);
      },
      hover: (x, y) => {
        const cell = cells.find(({ from, to, low, high }) => x >= from && x < to && y >= low && y < high);
        if (!cell) return undefined;
        const name = isCounted ? `${boundary(cell.low)} to ${boundary(cell.high)}` : (columns[cell.low]?.name ?? '');
        return {
          title: `${formatTime(cell.from)} to ${formatTime(cell.to)}`,
          lines: [{ name, value: text(cell.value), color: palette.color(cell.value) }],
        };
      },
    },
    context,
  );
}

/** The rows of several frames are above each other. */
function rowsOf(frames: readonly TimeFrame[], columns: readonly NumberColumn[]): HeatCell[] {
  return frames.flatMap((of) => {
    const first = columns.findIndex(({ frame }) => frame === of.frame);
    const own = columns.filter(({ frame }) => frame === of.frame).map(({ display }) => display.field.values);
    return cellsOfRows(of, own).map((cell) => ({ ...cell, low: cell.low + first, high: cell.high + first }));
  });
}

function counted(frames: readonly TimeFrame[], columns: readonly NumberColumn[], context: PanelContext): HeatCell[] {
  const calculation = asRecord(context.panel.options['calculation']);
  const [xs, ys] = [asRecord(calculation['xBuckets']), asRecord(calculation['yBuckets'])];
  const values = columns.flatMap(({ display }) => display.field.values.filter((value) => typeof value === 'number'));
  const extent =
    values.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY) -
    values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY);
  const wanted = { x: Number(xs['value']), y: Number(ys['value']) };
  const isSize = { x: xs['mode'] !== 'count', y: ys['mode'] !== 'count' };
  const width =
    (isSize.x && durationMs(asText(xs['value']) ?? '')) || (context.to - context.from) / (wanted.x || BUCKETS_IN_RANGE);
  const height = (isSize.y && wanted.y) || roundWidth(extent / (wanted.y || ROWS_IN_EXTENT) || 1);
  return frames.flatMap((of) => {
    const own = columns.filter(({ frame }) => frame === of.frame).map(({ display }) => display.field.values);
    return countedCells(of, own, width, height);
  });
}

function axisOf(
  cells: readonly HeatCell[],
  columns: readonly NumberColumn[],
  isCounted: boolean,
  unit: string | undefined,
): PlotAxis {
  if (!isCounted) return { kind: 'names', names: columns.map(({ name }) => name) };
  const low = cells.reduce((least, cell) => Math.min(least, cell.low), Number.POSITIVE_INFINITY);
  const high = cells.reduce((most, cell) => Math.max(most, cell.high), Number.NEGATIVE_INFINITY);
  return { kind: 'number', range: low < high ? [low, high] : [0, 1], unit: unit };
}

interface Palette {
  readonly min: number;
  readonly max: number;
  readonly color: (value: number) => string;
}

function paletteOf(cells: readonly HeatCell[], options: Readonly<Record<string, unknown>>, theme: Theme): Palette {
  const configured = asRecord(options['color']);
  const values = cells.map(({ value }) => value);
  const min =
    asNumber(configured['min']) ?? values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const max =
    asNumber(configured['max']) ?? values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  if (configured['mode'] === 'opacity') {
    const fill = colorOf(asText(configured['fill']) ?? 'orange', theme);
    const exponent = configured['scale'] === 'exponential' ? (asNumber(configured['exponent']) ?? 0.5) : 1;
    const none = translucent(colorOf('gray', theme), 0.15);
    const color = (value: number) => {
      const opacity = cellOpacity(value, min, max, exponent);
      return opacity === 0 ? none : translucent(fill, opacity);
    };
    return { min, max, color };
  }
  const part = (value: number) => (max > min ? Math.min(1, Math.max(0, (value - min) / (max - min))) : 1);
  const ramp = (theme === 'light') !== (configured['reverse'] === true) ? [...RAMP].reverse() : RAMP;
  return { min, max, color: (value) => ramp[Math.min(ramp.length - 1, Math.floor(part(value) * ramp.length))] ?? '' };
}

function scaleOf({ min, max, color }: Palette, text: (value: number) => string, hasMissing: boolean): HTMLElement {
  const steps = Array.from({ length: RAMP.length }, (_, i) => {
    const swatch = h('span', { className: 'swatch block' });
    swatch.style.background = color(min + ((max - min) * i) / (RAMP.length - 1));
    return swatch;
  });
  const key = Number.isFinite(min)
    ? h('span', { className: 'key' }, text(min), h('span', { className: 'ramp' }, ...steps), text(max))
    : undefined;
  return h('div', { className: 'legend' }, key, hasMissing ? missingKey() : undefined);
}

function fillCell({ ctx, x, y }: PlotArea, { from, to, low, high, value }: HeatCell, { color }: Palette): void {
  const gap = devicePixelRatio;
  const [left, right, top, bottom] = [x(from), x(to), y(high), y(low)];
  const inset = right - left > 4 * gap ? gap : 0;
  ctx.fillStyle = color(value);
  ctx.fillRect(left, top, Math.max(1, right - left - inset), Math.max(1, bottom - top - gap));
}
