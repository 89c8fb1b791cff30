/** The smallest value that is not exceeded by the fraction `q` of the values; 0 without values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;
}
