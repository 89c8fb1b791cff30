import type uPlot from 'uplot';
import { colorOf } from '../../display/colors.js';
import { asRecord, asText } from '../../display/fields.js';
import { candleBoxes, type Projection } from '../../display/series-shapes.js';
import type { Candle, MissingStretch } from '../../display/strokes.js';
import { thresholdBands, thresholdStyleOf } from '../../display/threshold-bands.js';
import type { PanelContext } from '../panel-context.js';
import type { ChartData, Series } from './chart-data.js';

/** A period that a dashboard points out, and its text. */
interface Annotation {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** As in the file. */
  readonly color: string;
}

export function annotationsOf({ annotations }: PanelContext): Annotation[] {
  return annotations.flatMap(({ frame, color }) => {
    const column = (name: string) => frame?.fields.find((field) => field.name === name)?.values ?? [];
    const [times, ends, texts] = [column('time'), column('timeEnd'), column('text')];
    return times.map((time, i) => ({
      from: Number(time),
      to: Number(ends[i] ?? time),
      text: String(texts[i] ?? ''),
      color,
    }));
  });
}

/** Below the series: hatching where data is missing, and a line on top for each annotation. */
export function drawBackground(plot: uPlot, missing: readonly MissingStretch[], context: PanelContext): void {
  const { ctx, bbox } = plot;
  const color = context.theme === 'dark' ? '#f2495c' : '#c4162a';
  // The part of a candle that lies in the future is not missing.
  const until = Math.max(context.to, context.nowMs);
  clipped(plot, () => {
    for (const { from, to, all } of missing) {
      if (from >= until) continue;
      const left = plot.valToPos(from / 1000, 'x', true);
      const right = plot.valToPos(Math.min(to, until) / 1000, 'x', true);
      hatch(ctx, { left, right, top: bbox.top, bottom: bbox.top + bbox.height }, color, all);
    }
    for (const { from, to, color: own } of annotationsOf(context)) {
      const left = plot.valToPos(from / 1000, 'x', true);
      const right = plot.valToPos(to / 1000, 'x', true);
      ctx.fillStyle = colorOf(own, context.theme);
      ctx.fillRect(left, bbox.top, Math.max(2, right - left), 3 * devicePixelRatio);
    }
  });
}

/** Opacity. */
const PALE = 0.5;
const THRESHOLD_AREA = 0.1;

/** Lines and areas of thresholds: once per axis, as the first series with them says. */
export function drawThresholds(plot: uPlot, { series }: ChartData, { theme }: PanelContext): void {
  const { ctx, bbox } = plot;
  const scales = new Map<string, Series>();
  for (const one of series) if (thresholdStyleOf(one.display) && !scales.has(one.scale)) scales.set(one.scale, one);
  clipped(plot, () => {
    for (const [scale, { display }] of scales) {
      const { min, max } = plot.scales[scale] ?? {};
      const style = thresholdStyleOf(display);
      if (typeof min !== 'number' || typeof max !== 'number' || !style) continue;
      const y = (value: number) => plot.valToPos(Math.min(max, Math.max(min, value)), scale, true);
      for (const { color, from, to } of thresholdBands(display, [min, max])) {
        ctx.fillStyle = ctx.strokeStyle = colorOf(color, theme);
        ctx.globalAlpha = THRESHOLD_AREA;
        const [top, bottom] = [y(to ?? max), y(from ?? min)];
        if (style.hasAreas) ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
        ctx.globalAlpha = 1;
        if (!style.lines || from === undefined || from < min || from > max) continue;
        ctx.lineWidth = devicePixelRatio;
        ctx.setLineDash(style.lines === 'dashed' ? [8 * devicePixelRatio, 6 * devicePixelRatio] : []);
        ctx.beginPath();
        ctx.moveTo(bbox.left, bottom);
        ctx.lineTo(bbox.left + bbox.width, bottom);
        ctx.stroke();
      }
      ctx.setLineDash([]);
    }
  });
}

export function drawCandles(plot: uPlot, { candles, series }: ChartData, { panel, theme }: PanelContext): void {
  if (candles.length === 0) return;
  const scale = series.find(({ isOhlc }) => isOhlc)?.scale ?? '';
  const colors = asRecord(panel.options['colors']);
  const up = colorOf(asText(colors['up']) ?? 'green', theme);
  const down = colorOf(asText(colors['down']) ?? 'red', theme);
  const idleColor = colorOf('gray', theme);
  const { min = 0, max = 0 } = plot.scales['x'] ?? {};
  clipped(plot, () => {
    for (const candle of candles) {
      const visible = { ...candle, from: Math.max(candle.from, min * 1000), to: Math.min(candle.to, max * 1000) };
      const color = candle.idle ? idleColor : candle.close >= candle.open ? up : down;
      if (visible.from < visible.to) drawCandle(plot, visible, scale, color);
    }
  });
}

/** The pixels of the canvas at a time and a value. */
export const projectionOf = (plot: uPlot, scale: string): Projection => ({
  x: (timeMs) => plot.valToPos(timeMs / 1000, 'x', true),
  y: (value) => plot.valToPos(value, scale, true),
});

function drawCandle(plot: uPlot, candle: Candle, scale: string, color: string): void {
  const { ctx } = plot;
  const line = Math.max(1, Math.round(devicePixelRatio));
  const { wick, body } = candleBoxes(candle, projectionOf(plot, scale), line);
  const { left, top, width, height } = body;
  ctx.fillStyle = color;
  if (wick) ctx.fillRect(wick.left, wick.top, wick.width, wick.height);
  if (candle.close >= candle.open && wick && height > 3 * line && width > 3 * line) {
    // Rising candles are hollow: color alone would not tell them from falling ones.
    ctx.clearRect(left, top, width, height);
    ctx.lineWidth = line;
    ctx.strokeStyle = color;
    ctx.strokeRect(left + line / 2, top + line / 2, width - line, height - line);
  } else {
    // One that is too small to be hollow is as pale as if it were.
    if (!candle.idle && candle.close >= candle.open) ctx.globalAlpha = PALE;
    ctx.fillRect(left, top, width, height);
    ctx.globalAlpha = 1;
  }
}

/** Draws within the area of the axes only. */
export function clipped({ ctx, bbox }: uPlot, draw: () => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw();
  ctx.restore();
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Diagonal lines at the same distance everywhere, close where all of the time is missing. */
function hatch(ctx: CanvasRenderingContext2D, { left, right, top, bottom }: Box, color: string, all: boolean): void {
  const distance = (all ? 6 : 14) * devicePixelRatio;
  const height = bottom - top;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, Math.max(1, right - left), height);
  ctx.clip();
  ctx.fillStyle = `${color}${all ? '26' : '12'}`;
  ctx.fillRect(left, top, Math.max(1, right - left), height);
  ctx.beginPath();
  for (let x = Math.floor((left - height) / distance) * distance; x < right; x += distance) {
    ctx.moveTo(x, bottom);
    ctx.lineTo(x + height, top);
  }
  ctx.strokeStyle = `${color}${all ? '99' : '59'}`;
  ctx.lineWidth = devicePixelRatio;
  ctx.stroke();
  ctx.restore();
}
