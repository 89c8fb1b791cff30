import type uPlot from 'uplot';
import { axisSteps, numberLabels } from '../../display/axis-labels.js';
import type { Theme } from '../../display/colors.js';
import { asText } from '../../display/fields.js';
import { shown } from '../../display/safe-text.js';
import type { Candle } from '../../display/strokes.js';
import { formatTime } from '../../display/units.js';
import type { PanelContext } from '../panel-context.js';
import { type ChartData, type Series, VOLUME_SCALE } from './chart-data.js';

/** Fraction of the height that bars of volume take below candles. */
const VOLUME_HEIGHT = 0.22;
const DAY_S = 86_400;
/** Labels that are at least so far apart have a year and no day. */
const MONTH_S = 28 * DAY_S;
/** Pixels beside the axis of time: half of the label at its end, as of 18:00, or as of 18:00:30 and 2026-01. */
const BESIDE_LABEL = 18;
const BESIDE_LONG_LABEL = 28;
/** Least distance of two labels of the axis of time, pixels. */
const LABEL_SPACE = 70;
export const AXIS_FONT = '11px system-ui, "Open Sans", sans-serif';

/** Charts over time share the line at the pointer, and no drag: the chart in which it ends zooms. */
export const SYNC: uPlot.Cursor.Sync = {
  key: 'chancery',
  setSeries: false,
  filters: { pub: (event) => event === 'mousemove' || event === 'mouseleave' },
};

/** The axis of time, and one of values per scale; volume has none, and neither has a chart without a value. */
export function axesOf({ series, isEmpty }: ChartData, theme: Theme): uPlot.Axis[] {
  if (isEmpty) return [timeAxis(theme)];
  const axis = axisStyle(theme);
  const scales = scaleNames(series).filter((scale) => scale !== VOLUME_SCALE);
  return [
    timeAxis(theme),
    ...scales.map((scale, i) => {
      const own = series.filter((one) => one.scale === scale).map(({ display }) => display);
      const unit = own[0]?.unit;
      const incrs = axisSteps(unit);
      const placement =
        own.map(({ custom }) => asText(custom['axisPlacement'])).find((one) => one !== undefined) ?? 'auto';
      return {
        ...axis,
        ...axisName(own.flatMap(({ custom }) => asText(custom['axisLabel']) || [])[0]),
        scale,
        show: placement !== 'hidden',
        side: placement === 'left' || (placement === 'auto' && i === 0) ? 3 : 1,
        size: axisSize,
        gap: 4,
        grid: { ...axis.grid, show: i === 0 },
        values: (_: uPlot, splits: number[]) => numberLabels(unit, splits),
        ...(incrs ? { incrs } : {}),
      };
    }),
  ];
}

/** The look of every axis. */
export function axisStyle(theme: Theme) {
  const grid = theme === 'dark' ? '#ffffff14' : '#00000014';
  const stroke = theme === 'dark' ? '#9aa3b2' : '#59626f';
  return { stroke, font: AXIS_FONT, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
}

/** What an axis measures, beside it. */
export const axisName = (name: string | undefined): uPlot.Axis =>
  name === undefined ? {} : { label: shown(name), labelSize: 18, labelGap: 0, labelFont: AXIS_FONT };

export const timeAxis = (theme: Theme): uPlot.Axis => ({
  ...axisStyle(theme),
  space: LABEL_SPACE,
  size: 28,
  gap: 6,
  values: timeLabels,
});

/** The time that is drawn, and the extent of each scale of values. */
export function scalesOf(data: ChartData, context: PanelContext): uPlot.Scales {
  const { series } = data;
  const { hiddenSeries } = context;
  const { from, to } = drawnTime(data, context);
  const shown = series.filter(({ display }) => !hiddenSeries.has(display.name));
  const names = scaleNames(series);
  const below = names.includes(VOLUME_SCALE) ? VOLUME_HEIGHT : 0;
  const scales = names.map((scale) => [scale, { range: () => extentOf(shown, scale, below) }]);
  return {
    x: { time: true, range: () => [from / 1000, Math.max(to, from + 1) / 1000] },
    ...Object.fromEntries(scales),
  };
}

/** The time range that is drawn: that of the panel; with candles, extended to the ends of the first and the last one. */
function drawnTime({ candles }: ChartData, { from, to }: PanelContext): { from: number; to: number } {
  const within = candles.filter((candle) => candle.from < to && candle.to > from);
  const [first, last] = [within[0], within.at(-1)];
  // A candle that is wider than half of the range does not extend it: only its part within the range is drawn.
  const isNarrow = ({ from: begins, to: ends }: Candle) => ends - begins <= (to - from) / 2;
  return {
    from: first && isNarrow(first) ? Math.min(from, first.from) : from,
    to: last && isNarrow(last) ? Math.max(to, last.to) : to,
  };
}

const scaleNames = (series: readonly Series[]): string[] => [...new Set(series.map(({ scale }) => scale))];

/**
 * The extent of what is drawn on a scale, with the minimum and maximum of its fields.
 * @param below fraction of the height that is left for bars of volume
 */
function extentOf(shown: readonly Series[], scale: string, below: number): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let min: number | undefined;
  let max: number | undefined;
  for (const { scale: own, display, bars, values } of shown) {
    if (own !== scale) continue;
    min = display.min ?? min;
    max = display.max ?? max;
    if (bars) {
      low = Math.min(low, 0);
      for (const bar of bars) high = Math.max(high, bar.high);
      continue;
    }
    for (const value of values) {
      if (typeof value !== 'number') continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return [min ?? 0, max ?? 1];
  if (scale === VOLUME_SCALE) return [0, (high || 1) / VOLUME_HEIGHT];
  const pad = (high - low || Math.abs(high) || 1) * 0.06;
  const lowest = low - pad - ((high - low) * below) / (1 - below);
  const bottom = min ?? (low >= 0 && (low < pad * 4 || lowest < 0) ? 0 : lowest);
  return [Math.min(bottom, low), Math.max(max ?? high + pad, high)];
}

/** Room for half of the label at an end of the axis of time. */
export function besideLabels({ width, scales }: uPlot): number {
  const { min, max } = scales['x'] ?? {};
  const secondsPerLabel = ((max ?? 0) - (min ?? 0)) / Math.max(1, width / LABEL_SPACE);
  const isLong = (secondsPerLabel > 0 && secondsPerLabel < 60) || secondsPerLabel > MONTH_S / 2;
  return isLong ? BESIDE_LONG_LABEL : BESIDE_LABEL;
}

function timeLabels(_: uPlot, splits: number[], __: number, ___: number, increment: number): string[] {
  return splits.map((seconds) => {
    const text = formatTime(seconds * 1000, increment < 1);
    if (increment >= MONTH_S) return text.slice(0, 7);
    if (increment >= DAY_S) return text.slice(5, 10);
    if (increment < 1) return text.slice(14);
    const isMidnight = text.slice(11, 19) === '00:00:00';
    if (isMidnight) return text.slice(5, 10);
    return increment >= 60 ? text.slice(11, 16) : text.slice(11, 19);
  });
}

/** As wide as the longest label. */
export function axisSize(plot: uPlot, values: string[] | null): number {
  const texts = values ?? [];
  const longest = Math.max(2, ...texts.map((text) => text.length));
  if (plot.width < 260) return Math.min(46, longest * 6.2 + 8);
  return Math.max(longest * 6.2, ...texts.map((text) => widthOf(plot, text))) + 10;
}

function widthOf({ ctx }: uPlot, text: string): number {
  ctx.save();
  ctx.font = AXIS_FONT;
  const { width } = ctx.measureText(text);
  ctx.restore();
  return width;
}
