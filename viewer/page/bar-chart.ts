import { type GroupBar, groupBarsOf } from '../display/bar-groups.js';
import { colorOf } from '../display/colors.js';
import {
  asNumber,
  asRecord,
  asText,
  type Display,
  displaysOf,
  formatValue,
  thresholdColor,
} from '../display/fields.js';
import { completenessOf } from '../display/strokes.js';
import { drawEmpty, type NumberColumn, numberColumnsOf, translucent } from './number-columns.js';
import type { Drawn, PanelContext } from './panel-context.js';
import { drawPlot, type PlotArea, type PlotAxis } from './plot.js';
import { namesLegend } from './time-chart/legend.js';

/** A bar per row and field of numbers, of the first result. */
export function drawBarChart(context: PanelContext): Drawn {
  const { options } = context.panel;
  const [frame] = context.frames;
  const columns = numberColumnsOf({ ...context, frames: frame ? [frame] : [] });
  const category = frame && categoryOf(displaysOf([frame], context.config), asText(options['xField']));
  const rows = frame?.fields[0]?.values.length ?? 0;
  const series = columns.filter(({ display }) => display.field !== category?.field);
  if (!frame || series.length === 0 || rows === 0) return drawEmpty(context);
  const shown = series.filter(({ name }) => !context.hiddenSeries.has(name));
  const mode = asText(options['stacking']) ?? asText(asRecord(series[0]?.display.custom['stacking'])['mode']);
  const stacking = mode === 'normal' || mode === 'percent' ? mode : 'none';
  const bars = groupBarsOf({
    columns: shown.map(({ display }) => display.field.values),
    stacking,
    completeness: completenessOf(frame),
    groupWidth: asNumber(options['groupWidth']) ?? 0.7,
  });
  const names = Array.from({ length: rows }, (_, row) => nameOf(row, category));
  const isHorizontal = options['orientation'] === 'horizontal' || (options['orientation'] !== 'vertical' && rows > 12);
  const groups: PlotAxis = { kind: 'names', names, reversed: isHorizontal };
  const numbers: PlotAxis = {
    kind: 'number',
    range: extentOf(bars, shown),
    unit: stacking === 'percent' ? 'percentunit' : series[0]?.display.unit,
  };
  return drawPlot(
    {
      x: isHorizontal ? numbers : groups,
      y: isHorizontal ? groups : numbers,
      legend: namesLegend(series, context),
      ...(context.frames.length > 1 ? { note: `the first of ${context.frames.length} results` } : {}),
      draw: (area) => {
        for (const bar of bars) fillBar(area, bar, shown[bar.series], isHorizontal, context);
      },
      hover: (x, y) => {
        const row = Math.floor(isHorizontal ? y : x);
        const title = names[row];
        if (title === undefined) return undefined;
        const lines = shown.map(({ name, color, display }) => {
          const { text, suffix } = formatValue(display.field.values[row] ?? null, display);
          return { name, color, value: `${text}${suffix}` };
        });
        return { title, lines };
      },
    },
    context,
  );
}

/** The field that names the bars: the one of the options, else the first text, else the first time. */
function categoryOf(displays: readonly Display[], wanted: string | undefined): Display | undefined {
  return (
    displays.find(({ field, name }) => wanted !== undefined && (field.name === wanted || name === wanted)) ??
    displays.find(({ field }) => field.kind === 'text') ??
    displays.find(({ field }) => field.kind === 'time')
  );
}

function nameOf(row: number, category: Display | undefined): string {
  if (!category) return String(row + 1);
  const { text, suffix } = formatValue(category.field.values[row] ?? null, category);
  return `${text}${suffix}`;
}

function extentOf(bars: readonly GroupBar[], shown: readonly NumberColumn[]): [number, number] {
  const low = Math.min(0, ...bars.map((bar) => bar.low));
  const high = Math.max(0, ...bars.map((bar) => bar.high));
  const pad = (high - low || 1) * 0.04;
  const min = shown.find(({ display }) => display.min !== undefined)?.display.min;
  const max = shown.find(({ display }) => display.max !== undefined)?.display.max;
  return [min ?? (low < 0 ? low - pad : 0), max ?? high + pad];
}

function fillBar(
  { ctx, x, y }: PlotArea,
  { row, left, right, low, high }: GroupBar,
  column: NumberColumn | undefined,
  isHorizontal: boolean,
  { theme }: PanelContext,
): void {
  if (!column) return;
  const { display } = column;
  const byThreshold =
    display.colorMode === 'thresholds' ? thresholdColor(display.field.values[row] ?? null, display) : undefined;
  const color = byThreshold === undefined ? column.color : colorOf(byThreshold, theme);
  const opacity = asNumber(display.custom['fillOpacity']) ?? 80;
  ctx.fillStyle = translucent(color, Math.max(20, opacity) / 100);
  const [x1, x2] = isHorizontal ? [x(low), x(high)] : [x(left), x(right)];
  const [y1, y2] = isHorizontal ? [y(left), y(right)] : [y(high), y(low)];
  ctx.fillRect(Math.round(x1), Math.round(y1), Math.max(1, Math.round(x2 - x1)), Math.max(1, Math.round(y2 - y1)));
}
