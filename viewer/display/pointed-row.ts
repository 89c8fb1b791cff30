/**
 * The row of a chart over time that is drawn at a time, by the ascending times of its rows.
 * @param drawnMs how long a row is drawn from its time on, at most to the next one; undefined: at its time, so that the nearest row counts
 * @returns undefined where nothing is drawn
 */
export function rowAt(times: readonly number[], timeMs: number, drawnMs: number | undefined): number | undefined {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= timeMs) low = middle + 1;
    else high = middle;
  }
  const [last, next] = [low - 1, low];
  if (drawnMs !== undefined) return last < 0 || timeMs >= (times[last] ?? 0) + drawnMs ? undefined : last;
  if (next === times.length) return last < 0 ? undefined : last;
  const [before, after] = [times[last], times[next] ?? 0];
  // Before the first row, half of the distance to the second one is near.
  const reach = before ?? 2 * after - (times[next + 1] ?? after);
  if (timeMs - reach > after - timeMs) return next;
  return before === undefined ? undefined : last;
}
