/** A change in the ledger. */
interface Expected {
  readonly value: string;
  /** Unix microseconds. */
  readonly at: number;
}

/** A recorded change. */
interface Found {
  readonly value: string;
  /** Unix microseconds. */
  readonly receivedAt: number;
}

/** A change is matched only if it was received at most this long after it was made, microseconds. */
const MAX_TRANSIT_MICROS = 10_000_000;
/** The clocks of two processes on one machine differ by at most 10 ms, and receive times may be truncated by 1 ms. */
export const CLOCK_MICROS = 11_000;
/** More than all transit times of a run together, so that a further match always outweighs shorter transit times. */
const MATCH_WEIGHT = MAX_TRANSIT_MICROS * 100;

/**
 * Matches recorded changes with equal ones of the ledger, both in order: as many as possible, and of all such ways the one
 * in which the changes were received soonest. A change is never received before it was made, except by the difference between the
 * clocks.
 * @returns by index of `found` the index of its change in `expected`; -1 without a match
 */
export function align(expected: readonly Expected[], found: readonly Found[]): Int32Array {
  const indexesOf = new Map<string, number[]>();
  for (const [j, { value }] of expected.entries()) {
    const indexes = indexesOf.get(value);
    if (indexes) indexes.push(j);
    else indexesOf.set(value, [j]);
  }
  const best = new PrefixMaximum(expected.length);
  const nodes: { readonly k: number; readonly j: number; readonly before: number }[] = [];
  const weights: number[] = [];
  for (const [k, { value, receivedAt }] of found.entries()) {
    const indexes = indexesOf.get(value) ?? [];
    const after = (micros: number) => firstAfter(indexes, (j) => (expected[j] as Expected).at > micros);
    const candidates = indexes.slice(after(receivedAt - MAX_TRANSIT_MICROS), after(receivedAt + CLOCK_MICROS));
    // The latest first, so that two candidates of one recorded change never follow each other.
    for (const j of candidates.reverse()) {
      const before = best.before(j);
      const transit = Math.max(0, receivedAt - (expected[j] as Expected).at);
      const weight = MATCH_WEIGHT - transit + (before < 0 ? 0 : (weights[before] as number));
      nodes.push({ k, j, before });
      weights.push(weight);
      best.put(j, nodes.length - 1, weights);
    }
  }
  const matches = new Int32Array(found.length).fill(-1);
  for (let node = best.before(expected.length); node >= 0; node = (nodes[node] as { before: number }).before) {
    const { k, j } = nodes[node] as { k: number; j: number };
    matches[k] = j;
  }
  return matches;
}

/** Position of the first item for which a condition holds that holds for all later ones too. */
export function firstAfter<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A Fenwick tree of nodes by position: the heaviest node before a position. */
class PrefixMaximum {
  readonly #tree: Int32Array;
  #weights: readonly number[] = [];

  constructor(size: number) {
    this.#tree = new Int32Array(size + 1).fill(-1);
  }

  /** The heaviest node at a position below `position`; -1 when there is none. */
  before(position: number): number {
    let best = -1;
    for (let i = position; i > 0; i -= i & -i) best = this.#heavier(best, this.#tree[i] as number);
    return best;
  }

  put(position: number, node: number, weights: readonly number[]): void {
    this.#weights = weights;
    for (let i = position + 1; i < this.#tree.length; i += i & -i) {
      this.#tree[i] = this.#heavier(this.#tree[i] as number, node);
    }
  }

  #heavier(a: number, b: number): number {
    if (a < 0) return b;
    if (b < 0) return a;
    return (this.#weights[b] as number) > (this.#weights[a] as number) ? b : a;
  }
}
