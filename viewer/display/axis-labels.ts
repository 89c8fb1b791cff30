import { formatNumber } from './units.js';

/** As many decimals as a step has: 1 of 2.5, 0 of 20. */
function decimalsOf(step: number): number {
  const counts = [0, 1, 2, 3, 4, 5];
  return counts.find((count) => Math.abs(step * 10 ** count - Math.round(step * 10 ** count)) < 1e-6) ?? 6;
}

/** The numbers of an axis, with the decimals that their distance needs. */
export function numberLabels(unit: string | undefined, splits: readonly number[]): string[] {
  const step = Math.abs((splits[1] ?? 1) - (splits[0] ?? 0));
  const factor = unit === 'percentunit' ? 100 : 1;
  const decimals = decimalsOf(step * factor);
  const isLarge = splits.some((value) => Math.abs(value) >= 1e4);
  const isScaled =
    unit === 'short' ? isLarge : unit !== undefined && !/^(suffix:|prefix:|percent|none|locale)/.test(unit);
  return splits.map((value) => {
    const { text, suffix } = formatNumber(value, unit, isScaled ? undefined : decimals);
    return suffix.length > 5 ? text : `${text}${suffix}`;
  });
}
