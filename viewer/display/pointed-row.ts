/**
 * The row of a chart over time that is drawn at a time, by the ascending times of its rows.
 * @param fillsBuckets whether a row is drawn from its time to the next one; else the nearest row counts
 * @returns undefined where nothing is drawn, before the first row
 */
export function rowAt(times: readonly number[], timeMs: number, fillsBuckets: boolean): number | undefined {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= timeMs) low = middle + 1;
    else high = middle;
  }
  const [last, next] = [low - 1, low];
  if (fillsBuckets || next === times.length) return last < 0 ? undefined : last;
  const [before, after] = [times[last], times[next] ?? 0];
  // Before the first row, half of the distance to the second one is near.
  const reach = before ?? 2 * after - (times[next + 1] ?? after);
  if (timeMs - reach > after - timeMs) return next;
  return before === undefined ? undefined : last;
}
