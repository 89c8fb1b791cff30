import { formatNumber } from './units.js';

/** As many decimals as a step has: 1 of 2.5, 0 of 20. */
function decimalsOf(step: number): number {
  const counts = [0, 1, 2, 3, 4, 5];
  return counts.find((count) => Math.abs(step * 10 ** count - Math.round(step * 10 ** count)) < 1e-6) ?? 6;
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

/** The numbers of an axis, with the decimals that their distance needs. */
export function numberLabels(unit: string | undefined, splits: readonly number[]): string[] {
  const step = Math.abs((splits[1] ?? 1) - (splits[0] ?? 0));
  const factor = unit === 'percentunit' ? 100 : 1;
  const decimals = decimalsOf(step * factor);
  const duration = durationLabels(unit, splits, step);
  if (duration) return duration;
  const isLarge = splits.some((value) => Math.abs(value) >= 1e4);
  const isScaled =
    unit === 'short' ? isLarge : unit !== undefined && !/^(suffix:|prefix:|percent|none|locale)/.test(unit);
  return splits.map((value) => {
    const { text, suffix } = formatNumber(value, unit, isScaled ? undefined : decimals);
    return suffix.length > 5 ? text : `${text}${suffix}`;
  });
}
