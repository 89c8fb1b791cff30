import { UsageError } from '../core/index.js';

/** What a dashboard looks at. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * The range that `now-6h` and `now` stand for.
 * @throws UsageError for anything that is not `now` or `now-` with a number and one of s, m, h, d, w
 */
export function relativeRange(from: string, to: string, now: Date): TimeRange {
  return { from: relativeTime(from, now), to: relativeTime(to, now) };
}

function relativeTime(text: string, now: Date): Date {
  const [, amount = '0', unit = 's'] =
    /^now(?:-(\d+)([smhdw]))?$/.exec(text) ?? refuse(`the time ${JSON.stringify(text)} is not like now-6h`);
  return new Date(now.getTime() - Number(amount) * (UNIT_MS[unit] ?? 0));
}

/** Milliseconds of a Grafana interval such as `10s` or `500ms`. @throws UsageError for anything else */
export function intervalMs(text: string): number {
  const [, amount = '', unit = ''] =
    /^(\d+)(ms|[smhdw])$/.exec(text) ?? refuse(`the interval ${JSON.stringify(text)} is not like 10s`);
  return Number(amount) * (unit === 'ms' ? 1 : (UNIT_MS[unit] ?? 0));
}

/** Grafana's steps: from which raw interval on, milliseconds, the next rounded one is taken. */
const STEPS: readonly (readonly [below: number, rounded: number])[] = [
  [10, 1],
  [15, 10],
  [35, 20],
  [75, 50],
  [150, 100],
  [350, 200],
  [750, 500],
  [1500, 1000],
  [3500, 2000],
  [7500, 5000],
  [12_500, 10_000],
  [17_500, 15_000],
  [25_000, 20_000],
  [45_000, 30_000],
  [90_000, 60_000],
  [210_000, 120_000],
  [450_000, 300_000],
  [750_000, 600_000],
  [1_050_000, 900_000],
  [1_500_000, 1_200_000],
  [2_700_000, 1_800_000],
  [5_400_000, 3_600_000],
  [9_000_000, 7_200_000],
  [16_200_000, 10_800_000],
  [32_400_000, 21_600_000],
  [86_400_000, 43_200_000],
  [604_800_000, 86_400_000],
  [1_814_400_000, 604_800_000],
  [3_628_800_000, 2_592_000_000],
];
const YEAR_MS = 31_536_000_000;

/**
 * Width of one bucket of a panel as Grafana chooses it: the range over the number of points, rounded, and never below
 * the panel's own least interval. Milliseconds.
 */
export function bucketMs({ from, to }: TimeRange, points: number, leastMs: number): number {
  const raw = (to.getTime() - from.getTime()) / points;
  const rounded = STEPS.find(([below]) => raw < below)?.[1] ?? YEAR_MS;
  return Math.max(rounded, leastMs);
}

function refuse(message: string): never {
  throw new UsageError(message);
}
