import { groupBy } from '../../core/index.js';
import { CLOCKS_MICROS } from './clocks.js';

/** A change of the exchange, or a row that was recorded. */
export interface Keyed {
  /** Equal if and only if market and values are. */
  readonly key: string;
  /** When it happened, or was received, Unix microseconds. */
  readonly at: number;
}

/**
 * Maximum delays: rows that arrived in time are matched first, so that a late row is not taken for another change. A late row
 * is that of the latest change with its values: the row of an earlier one may be lost.
 */
const DELAYS_MICROS = [300_000, 15_000_000];

/** Finds for each change the row that records it. Both lists are in order of time. */
export function match<C extends Keyed, R extends Keyed>(
  changes: readonly C[],
  rows: readonly R[],
): { readonly lost: C[]; readonly surplus: R[] } {
  let lost = [...changes];
  let surplus = [...rows];
  for (const maxDelay of DELAYS_MICROS) {
    const rowsByKey = groupBy(surplus, ({ key }) => key);
    const used = new Set<R>();
    const unmatched = lost.toReversed().filter(({ key, at }) => {
      const row = rowsByKey
        .get(key)
        ?.find((each) => !used.has(each) && each.at >= at - CLOCKS_MICROS && each.at <= at + maxDelay);
      if (row) used.add(row);
      return !row;
    });
    lost = unmatched.reverse();
    surplus = surplus.filter((row) => !used.has(row));
  }
  return { lost, surplus };
}
