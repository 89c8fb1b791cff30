import type { Bar, Candle } from './strokes.js';

/** What shapes are added to: a `Path2D`, or in tests a record of them. */
export interface PathSink {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  rect(x: number, y: number, width: number, height: number): void;
  closePath(): void;
}

/** From times (milliseconds) and values to pixels. */
export interface Projection {
  readonly x: (timeMs: number) => number;
  readonly y: (value: number) => number;
}

/** A rectangle in pixels. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Adds lines, and the areas between them and the level of `zero`. */
export function traceLines(
  lines: readonly (readonly number[])[],
  { x: xOf, y: yOf }: Projection,
  zero: number,
  { stroke, fill }: { readonly stroke: PathSink; readonly fill: PathSink },
): void {
  for (const line of lines) {
    let x = 0;
    for (let i = 0; i < line.length; i += 2) {
      x = xOf(line[i] ?? 0);
      const y = yOf(line[i + 1] ?? 0);
      if (i === 0) {
        stroke.moveTo(x, y);
        fill.moveTo(x, zero);
      } else stroke.lineTo(x, y);
      fill.lineTo(x, y);
    }
    fill.lineTo(x, zero);
    fill.closePath();
  }
}

/** Adds the areas between lines above and lines below, which have the same times. */
export function traceAreas(
  { upper, lower }: { readonly upper: readonly (readonly number[])[]; readonly lower: readonly (readonly number[])[] },
  { x, y }: Projection,
  path: PathSink,
): void {
  for (const [n, line] of upper.entries()) {
    const below = lower[n] ?? [];
    for (let i = 0; i < line.length; i += 2) {
      if (i === 0) path.moveTo(x(line[i] ?? 0), y(line[i + 1] ?? 0));
      else path.lineTo(x(line[i] ?? 0), y(line[i + 1] ?? 0));
    }
    for (let i = below.length - 2; i >= 0; i -= 2) path.lineTo(x(below[i] ?? 0), y(below[i + 1] ?? 0));
    path.closePath();
  }
}

/** Adds bars, with a little room between neighbours. */
export function traceBars(bars: readonly Bar[], { x, y }: Projection, path: PathSink): void {
  for (const { from, to, low, high } of bars) {
    const [left, right] = [x(from), x(to)];
    const gap = Math.min(2, (right - left) * 0.15);
    const top = y(high);
    path.rect(left + gap / 2, top, Math.max(1, right - left - gap), y(low) - top);
  }
}

/** The wick of a candle, none of one that only repeats the last close, and its body. */
export function candleBoxes(candle: Candle, { x, y }: Projection, line: number): { wick: Box | undefined; body: Box } {
  const { from, to, open, high, low, close, idle } = candle;
  const level = (value: number) => Math.round(y(value));
  const [left, right] = [x(from), x(to)];
  const inset = Math.min(2, (right - left) * 0.15);
  const top = level(Math.max(open, close));
  const wickTop = level(high);
  return {
    wick: idle
      ? undefined
      : {
          left: Math.round((left + right - line) / 2),
          top: wickTop,
          width: line,
          height: Math.max(1, level(low) - wickTop),
        },
    body: {
      left: left + inset,
      top,
      width: Math.max(1, right - left - 2 * inset),
      height: Math.max(line, level(Math.min(open, close)) - top),
    },
  };
}
