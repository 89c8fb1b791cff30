import { roundWidth } from './histogram.js';
import { exponentText, formatNumber } from './units.js';

const MAX_DECIMALS = 15;

/** As many decimals as a step has: 1 of 2.5, 0 of 20. A difference of large numbers is not exact: three digits of it count. */
function decimalsOf(step: number): number {
  const [digits = '', exponent] = Number(step.toPrecision(3)).toExponential().split('e');
  return Math.min(MAX_DECIMALS, Math.max(0, digits.replace(/^\d\.?/, '').length - Number(exponent)));
}

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;
const decimalSteps = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i).flatMap((power) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
  );
const SECONDS = [
  ...decimalSteps(-9, -1),
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE_S),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR_S),
  ...decimalSteps(0, 6).map((count) => count * DAY_S),
];
/** Units of time, in seconds. */
const TIMES: Readonly<Record<string, number>> = { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9 };

/** Between which numbers of an axis the distance may be chosen: minutes and hours for times; undefined: as for any number. */
export function axisSteps(unit: string | undefined): number[] | undefined {
  const seconds = unit === undefined ? undefined : TIMES[unit];
  return seconds === undefined ? undefined : SECONDS.map((step) => Number((step / seconds).toPrecision(12)));
}

const SCALES: readonly (readonly [seconds: number, suffix: string])[] = [
  [DAY_S, ' d'],
  [HOUR_S, ' h'],
  [MINUTE_S, ' min'],
  [1, ' s'],
];

/** Durations in the unit of their distance: 30 s, 60 s, 90 s; undefined where all are shorter than seconds. */
function durationLabels(unit: string | undefined, splits: readonly number[], step: number): string[] | undefined {
  const seconds = unit === undefined ? undefined : TIMES[unit];
  if (seconds === undefined) return undefined;
  const [scale, suffix] = SCALES.find(([size]) => step * seconds >= size * (1 - 1e-9)) ?? [];
  if (scale === undefined) {
    if (splits.every((value) => Math.abs(value * seconds) < 1)) return undefined;
    const decimals = decimalsOf(step * seconds);
    return splits.map((value) => `${formatNumber(value * seconds, undefined, decimals).text} s`);
  }
  return splits.map((value) => `${formatNumber((value * seconds) / scale, undefined, 0).text}${suffix}`);
}

/** An axis of numbers below this has exponents where it needs more decimals than that. */
const MAX_TINY = 1e-3;
const MAX_TINY_DECIMALS = 6;

/** The numbers of an axis, with the decimals that their distance needs. */
export function numberLabels(unit: string | undefined, splits: readonly number[]): string[] {
  const step = Math.abs((splits[1] ?? 1) - (splits[0] ?? 0));
  const factor = unit === 'percentunit' ? 100 : 1;
  const decimals = decimalsOf(step * factor);
  const duration = durationLabels(unit, splits, step);
  if (duration) return duration;
  const isLarge = splits.some((value) => Math.abs(value) >= 1e3);
  const isTiny = splits.every((value) => Math.abs(value * factor) < MAX_TINY) && decimals > MAX_TINY_DECIMALS;
  const isScaled =
    unit === 'short' ? isLarge : unit !== undefined && !/^(suffix:|prefix:|percent|none|locale)/.test(unit);
  if (isScaled) return scaledLabels(unit, splits);
  return splits.map((value) => {
    const { text, suffix } = formatNumber(value, unit, decimals);
    const number = isTiny ? exponentText(Math.abs(value) < step / 2 ? 0 : value * factor) : text;
    return joined(number, suffix);
  });
}

/** Numbers of which each has a scale of its own, such as K and KiB: with more decimals where two would be equal. */
function scaledLabels(unit: string | undefined, splits: readonly number[]): string[] {
  const labels = (decimals: number | undefined) =>
    splits.map((value) => {
      const { text, suffix } = formatNumber(value, unit, decimals);
      return joined(text, suffix);
    });
  const differ = (texts: readonly string[]) => new Set(texts).size === new Set(splits).size;
  let texts = labels(undefined);
  for (let decimals = 1; !differ(texts) && decimals <= MAX_DECIMALS; decimals++) texts = labels(decimals);
  return texts;
}

/** A long suffix is left out: the axis has no room for it. */
const joined = (text: string, suffix: string): string => (suffix.length > 5 ? text : `${text}${suffix}`);

const MIN_SPACE = 50;
const CHARACTER = 6.4;
const BETWEEN_LABELS = 14;

/** Least distance of the ticks of a horizontal axis, in pixels: its labels do not overlap. */
export function tickSpace(unit: string | undefined, min: number, max: number, length: number): number {
  const step = roundWidth((max - min) / Math.max(1, length / MIN_SPACE));
  const first = Math.floor(min / step) * step;
  const labels = numberLabels(unit, [first, first + step, Math.ceil(max / step) * step]);
  return Math.max(MIN_SPACE, ...labels.map((label) => label.length * CHARACTER + BETWEEN_LABELS));
}
