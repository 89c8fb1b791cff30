import { colorOf, seriesColor, textColorOn } from '../display/colors.js';
import {
  asNumber,
  asText,
  type Display,
  displaysOf,
  formatValue,
  isHiddenFrom,
  type Threshold,
  thresholdColor,
} from '../display/fields.js';
import { shown } from '../display/safe-text.js';
import { bandsOf, type StateBand } from '../display/state-bands.js';
import { isCompleteness, missingStretches } from '../display/strokes.js';
import { formatNumber, formatTime } from '../display/units.js';
import type { Value } from '../frames.js';
import { h } from './dom.js';
import { drawEmpty, translucent } from './number-columns.js';
import type { Drawn, PanelContext } from './panel-context.js';
import { drawPlot, type PlotArea } from './plot.js';
import { AXIS_FONT } from './time-chart/axes.js';
import { type TimeFrame, timeFrameOf } from './time-chart/chart-data.js';
import { drawBackground } from './time-chart/layers.js';
import { missingKey } from './time-chart/legend.js';

interface StateRow {
  readonly display: Display;
  readonly bands: readonly StateBand[];
}

/** A row per field, with a band for each stretch of time in which it has one value. */
export function drawStateTimeline(context: PanelContext): Drawn {
  const frames = context.frames.flatMap((frame) => timeFrameOf(frame, context) ?? []);
  const rows = frames.flatMap((of) => rowsOf(of, context));
  if (rows.length === 0) return drawEmpty(context);
  const missing = frames.flatMap(({ times, bucketMs, completeness }) =>
    completeness ? missingStretches(times, bucketMs, completeness) : [],
  );
  const colors = colorsOf(rows, context);
  return drawPlot(
    {
      x: { kind: 'time', range: [context.from, context.to] },
      y: { kind: 'names', names: rows.map(({ display }) => display.name), reversed: true },
      note: frames.some(({ completeness }) => completeness) ? '' : 'completeness not known',
      legend: legendOf(rows, colors, missing.length > 0),
      draw: (area) => {
        drawBackground(area.plot, missing, context);
        for (const [i, row] of rows.entries()) drawRow(area, row, i, colors, context);
      },
      hover: (x, y) => {
        const row = rows[Math.floor(y)];
        const band = row?.bands.find(({ from, to }) => x >= from && x < to);
        if (!row || !band) return undefined;
        const value = textOf(band.value, row.display);
        const color = colors(band.value, row.display);
        return {
          title: `${formatTime(band.from)} to ${formatTime(band.to)}`,
          lines: [{ name: row.display.name, value, color }],
        };
      },
    },
    context,
  );
}

function rowsOf(of: TimeFrame, context: PanelContext): StateRow[] {
  const { times, bucketMs, completeness } = of;
  const merge = context.panel.options['mergeValues'] !== false;
  return displaysOf([of.frame], context.config)
    .filter(({ field }) => field.kind !== 'time' && !isCompleteness(field.name))
    .filter((display) => !isHiddenFrom(display, 'viz'))
    .map((display) => ({
      display,
      bands: bandsOf({ times, values: display.field.values, bucketMs, completeness, end: context.to, merge }),
    }));
}

type ColorOf = (value: Value, display: Display) => string;

/** The color of a value: that of its mapping, else that of the thresholds, else one per value in the order of their first occurrence. */
function colorsOf(rows: readonly StateRow[], { theme }: PanelContext): ColorOf {
  const indexes = new Map<string, number>();
  for (const { value } of rows.flatMap(({ bands }) => bands)) {
    if (!indexes.has(String(value))) indexes.set(String(value), indexes.size);
  }
  return (value, display) => {
    if (display.colorMode === 'fixed' && display.fixedColor !== undefined) return colorOf(display.fixedColor, theme);
    const named = formatValue(value, display).color ?? thresholdColor(value, display);
    return named === undefined ? seriesColor(indexes.get(String(value)) ?? 0, theme) : colorOf(named, theme);
  };
}

function textOf(value: Value, display: Display): string {
  const { text, suffix } = formatValue(value, display);
  return `${text}${suffix}`;
}

/** The range of the thresholds that a number lies in; undefined where a mapping, or no threshold, colors it. */
function rangeOf(value: Value, display: Display): string | undefined {
  const { thresholds, thresholdsMode, mappings, unit, decimals } = display;
  if (typeof value !== 'number' || thresholds.length < 2 || thresholdsMode !== 'absolute' || mappings.length > 0)
    return;
  const next = thresholds.findIndex((step) => step.value !== null && value < step.value);
  const bound = (step: Threshold | undefined) => {
    const { text, suffix } = formatNumber(step?.value ?? 0, unit, decimals);
    return `${text}${suffix}`;
  };
  return next > 0 ? `below ${bound(thresholds[next])}` : `${bound(thresholds.at(-1))} and above`;
}

/** How many values a legend names at most. */
const MAX_NAMES = 12;

function legendOf(rows: readonly StateRow[], colors: ColorOf, hasMissing: boolean): HTMLElement | undefined {
  const names = new Map<string, string>();
  for (const { display, bands } of rows) {
    for (const { value } of bands) {
      names.set(rangeOf(value, display) ?? textOf(value, display), colors(value, display));
    }
  }
  const keys = [...names].slice(0, MAX_NAMES).map(([name, color]) => {
    const swatch = h('span', { className: 'swatch block' });
    swatch.style.background = color;
    return h('span', { className: 'key' }, swatch, name);
  });
  if (keys.length === 0 && !hasMissing) return undefined;
  return h('div', { className: 'legend' }, ...keys, hasMissing ? missingKey() : undefined);
}

function drawRow(
  { ctx, x, y }: PlotArea,
  { display, bands }: StateRow,
  index: number,
  colors: ColorOf,
  context: PanelContext,
): void {
  const { options } = context.panel;
  const height = Math.min(1, Math.max(0.1, asNumber(options['rowHeight']) ?? 0.9));
  const opacity = (asNumber(display.custom['fillOpacity']) ?? 70) / 100;
  const top = y(index + (1 - height) / 2);
  const bottom = y(index + (1 + height) / 2);
  const showsText = (asText(options['showValue']) ?? 'auto') !== 'never' && bottom - top > 12 * devicePixelRatio;
  ctx.font = AXIS_FONT.replace('11px', `${11 * devicePixelRatio}px`);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  for (const { from, to, value } of bands) {
    const [left, right] = [Math.max(x(from), x(context.from)), Math.min(x(to), x(context.to))];
    if (right <= left) continue;
    ctx.fillStyle = translucent(colors(value, display), opacity);
    ctx.fillRect(left, top, Math.max(1, right - left - devicePixelRatio), bottom - top);
    if (!showsText) continue;
    const text = shown(textOf(value, display));
    if (ctx.measureText(text).width + 8 * devicePixelRatio > right - left) continue;
    ctx.fillStyle = textColorOn(colors(value, display), opacity, context.theme);
    ctx.fillText(text, left + 4 * devicePixelRatio, (top + bottom) / 2);
  }
}
