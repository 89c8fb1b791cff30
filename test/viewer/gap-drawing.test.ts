import { describe, expect, it } from 'vitest';
import { Random } from '../../core/index.js';
import { candleBoxes, type PathSink, traceBars, traceLines } from '../../viewer/display/series-shapes.js';
import { barsOf, candlesOf, strokesOf } from '../../viewer/display/strokes.js';
import { patternEnd, randomGapPattern } from './gap-pattern.js';

const PATTERNS = 1000;
const BUCKET_MS = 1000;
const HEIGHT = 100;
const LINE = 1;

/** A stretch of pixels. */
type Span = readonly [from: number, to: number];

/** Records which pixels the segments and rectangles of a path are over, from left to right. */
class Recorded implements PathSink {
  readonly spans: Span[] = [];
  #x = 0;

  moveTo(x: number): void {
    this.#x = x;
  }

  lineTo(x: number): void {
    this.spans.push([Math.min(this.#x, x), Math.max(this.#x, x)]);
    this.#x = x;
  }

  rect(x: number, _y: number, width: number): void {
    this.spans.push([x, x + width]);
  }

  closePath(): void {
    this.#x = 0;
  }
}

/** A pattern on a canvas of a random width. */
function randomPattern(random: Random) {
  const width = 30 + Math.floor(1500 * random.next());
  return {
    ...randomGapPattern(random, BUCKET_MS),
    x: (timeMs: number) => (timeMs / patternEnd(BUCKET_MS)) * width,
    y: (value: number) => HEIGHT * (1 - value),
  };
}

type Pattern = ReturnType<typeof randomPattern>;

/** The pixels of each bucket that is missing, or that is observed and has a value. */
function bucketsOf({ times, values, completeness, x }: Pattern, kind: 'missing' | 'drawn'): Span[] {
  return times.flatMap((time, i): Span[] => {
    const isMissing = completeness.missing[i] === 1;
    const isWanted = kind === 'missing' ? isMissing : !isMissing && values[i] !== null;
    return isWanted ? [[x(time), x(time + BUCKET_MS)]] : [];
  });
}

/** @param spare pixels that a shape of at least one pixel may take of its neighbour */
function enters(spans: readonly Span[], gaps: readonly Span[], spare: number): Span[] {
  return spans.filter(([from, to]) => gaps.some(([begins, ends]) => from < ends - spare && to > begins + spare));
}

/** The pixel columns whose middle lies in one of the buckets and under no span. */
function uncovered(spans: readonly Span[], buckets: readonly Span[], inset: number): number[] {
  return buckets.flatMap(([from, to]) => {
    const columns = Array.from({ length: Math.ceil(to) - Math.floor(from) }, (_, i) => Math.floor(from) + i + 0.5);
    const own = columns.filter((column) => column > from + inset && column < to - inset);
    return own.filter((column) => !spans.some(([begins, ends]) => begins <= column && ends >= column));
  });
}

/** What a kind of chart draws of a pattern, and how far its shapes are from the edges of their buckets. */
const KINDS: Readonly<Record<string, (pattern: Pattern) => { spans: readonly Span[]; spare: number; inset: number }>> =
  {
    'a line': (pattern) => lineOf(pattern, false),
    'a line of steps': (pattern) => lineOf(pattern, true),
    bars: ({ times, values, completeness, x, y }) => {
      const path = new Recorded();
      traceBars(barsOf(times, values, BUCKET_MS, completeness, undefined), { x, y }, path);
      return { spans: path.spans, spare: 1, inset: 1 };
    },
    candles: ({ times, values, completeness, x, y }) => {
      const prices = { open: values, high: values, low: values, close: values };
      const boxes = candlesOf(times, prices, BUCKET_MS, completeness).flatMap((candle) => {
        const { wick, body } = candleBoxes(candle, { x, y }, LINE);
        return wick ? [wick, body] : [body];
      });
      return { spans: boxes.map(({ left, width }) => [left, left + width] as const), spare: 1, inset: 2 };
    },
  };

function lineOf({ times, values, completeness, x, y }: Pattern, step: boolean) {
  const lines = strokesOf({ times, values, bucketMs: BUCKET_MS, completeness, step, spanNulls: true });
  const [stroke, fill] = [new Recorded(), new Recorded()];
  traceLines(lines, { x, y }, HEIGHT, { stroke, fill });
  return { spans: [...stroke.spans, ...fill.spans], spare: 1e-9, inset: 0 };
}

describe('what is drawn of buckets of which some are missing', () => {
  it.each(Object.keys(KINDS))(
    'is nothing over a missing one, and something in every pixel of an observed one: %s',
    (kind) => {
      const random = new Random(14, `drawing of ${kind}`);
      const mistakes = Array.from({ length: PATTERNS }, (_, n) => {
        const pattern = randomPattern(random);
        const { spans, spare, inset } = KINDS[kind]?.(pattern) ?? { spans: [], spare: 0, inset: 0 };
        const wrong = enters(spans, bucketsOf(pattern, 'missing'), spare);
        const empty = uncovered(spans, bucketsOf(pattern, 'drawn'), inset);
        return { n, wrong, empty };
      });
      expect(mistakes.filter(({ wrong, empty }) => wrong.length + empty.length > 0)).toEqual([]);
    },
  );
});
