/** Logarithms of factorials up to n: sums of logarithms, exact to double precision for the numbers of a run. */
function logFactorials(n: number): Float64Array {
  const logs = new Float64Array(n + 1);
  for (let i = 2; i <= n; i++) logs[i] = (logs[i - 1] as number) + Math.log(i);
  return logs;
}

/**
 * The probability of at most `k`, or of at least `k`, of `n` independent trials with probability `p`: the smaller of the
 * two. Computed in logarithms, so that it is not 0 as long as it can be represented.
 */
export function binomialTail(n: number, k: number, p: number): number {
  if (p <= 0) return k === 0 ? 1 : 0;
  if (p >= 1) return k === n ? 1 : 0;
  const logs = logFactorials(n);
  const logOf = (i: number) =>
    (logs[n] as number) - (logs[i] as number) - (logs[n - i] as number) + i * Math.log(p) + (n - i) * Math.log1p(-p);
  const sum = (from: number, to: number) => {
    let total = 0;
    for (let i = from; i <= to; i++) total += Math.exp(logOf(i));
    return Math.min(1, total);
  };
  return Math.min(sum(0, k), sum(k, n));
}
