import { asNumber, asRecord, asText, type Display, displaysOf, formatValue } from '../display/fields.js';
import { type XyPoint, xyPointsOf, xySeriesOf } from '../display/xy-points.js';
import type { Frame } from '../frames.js';
import { columnColor, drawEmpty, translucent } from './number-columns.js';
import type { Drawn, PanelContext } from './panel-context.js';
import { drawPlot, type Hovered, type PlotArea, type PlotAxis } from './plot.js';
import { namesLegend } from './time-chart/legend.js';

/** A series of points, and how it is shown. */
interface Dots {
  readonly name: string;
  readonly color: string;
  readonly x: Display;
  readonly y: Display;
  readonly frame: Frame;
  readonly points: readonly XyPoint[];
}

/** Points of one field over another. */
export function drawXyChart(context: PanelContext): Drawn {
  const all = dotsOf(context);
  const shown = all.filter(({ name }) => !context.hiddenSeries.has(name));
  const [first] = all;
  if (!first || all.every(({ points }) => points.length === 0)) return drawEmpty(context);
  const isTime = first.x.field.kind === 'time';
  const xs = shown.flatMap(({ points }) => points.map(({ x }) => x));
  const ys = shown.flatMap(({ points }) => points.map(({ y }) => y));
  return drawPlot(
    {
      x: isTime
        ? { kind: 'time', range: [context.from, context.to] }
        : { kind: 'number', range: extentOf(xs, first.x), unit: first.x.unit, name: axisNameOf([first.x]) },
      y: {
        kind: 'number',
        range: extentOf(ys, first.y),
        unit: first.y.unit,
        name: axisNameOf(all.map(({ y }) => y)),
      } satisfies PlotAxis,
      legend: namesLegend(all, context),
      draw: (area) => {
        for (const dots of shown) drawDots(area, dots);
      },
      hover: (x, y, near) => nearest(shown, { x, y }, near),
    },
    context,
  );
}

/** The configured name, or that of the field; several fields have none in common. */
function axisNameOf(displays: readonly Display[]): string | undefined {
  const [configured] = displays.flatMap(({ custom }) => asText(custom['axisLabel']) || []);
  const names = new Set(displays.map(({ name }) => name));
  return configured ?? (names.size === 1 ? [...names][0] : undefined);
}

function dotsOf(context: PanelContext): Dots[] {
  const displays = displaysOf(context.frames, context.config);
  return xySeriesOf(context.frames, context.panel.options).flatMap((series, i) => {
    const x = displays.find(({ field }) => field === series.x);
    const y = displays.find(({ field }) => field === series.y);
    if (!x || !y) return [];
    return [
      {
        name: series.name ?? y.name,
        color: columnColor(y, i, context.theme),
        x,
        y,
        frame: series.frame,
        points: xyPointsOf(series),
      },
    ];
  });
}

function extentOf(values: readonly number[], { min, max }: Display): [number, number] {
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  if (low > high) return [min ?? 0, max ?? 1];
  const pad = (high - low || Math.abs(high) || 1) * 0.05;
  return [min ?? (low >= 0 && low < pad ? 0 : low - pad), max ?? high + pad];
}

function drawDots({ ctx, x, y }: PlotArea, { points, color, y: { custom } }: Dots): void {
  const size = asNumber(asRecord(custom['pointSize'])['fixed']) ?? asNumber(custom['pointSize']) ?? 5;
  const radius = (size / 2) * devicePixelRatio;
  ctx.fillStyle = translucent(color, points.length > 500 ? 0.4 : 0.7);
  for (const point of points) {
    ctx.beginPath();
    ctx.arc(x(point.x), y(point.y), radius, 0, 2 * Math.PI);
    ctx.fill();
  }
}

function nearest(
  shown: readonly Dots[],
  at: { x: number; y: number },
  near: { readonly x: number; readonly y: number },
): Hovered | undefined {
  let best = 1;
  let found: { readonly dots: Dots; readonly point: XyPoint } | undefined;
  for (const dots of shown) {
    for (const point of dots.points) {
      const distance = Math.hypot((point.x - at.x) / near.x, (point.y - at.y) / near.y);
      if (distance >= best) continue;
      best = distance;
      found = { dots, point };
    }
  }
  if (!found) return undefined;
  const { dots, point } = found;
  const text = (value: number, display: Display) => {
    const formatted = formatValue(value, display);
    return `${formatted.text}${formatted.suffix}`;
  };
  // All points of the same row with the same x, because one may hide another.
  const others = shown.flatMap(({ frame, y, color, points }) => {
    const same = frame === dots.frame && points.find(({ row, x }) => row === point.row && x === point.x);
    return same ? [{ name: y.name, value: text(same.y, y), color }] : [];
  });
  return {
    title: dots.name,
    lines: [{ name: dots.x.name, value: text(point.x, dots.x), color: undefined }, ...others],
  };
}
