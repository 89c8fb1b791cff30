import { groupBy } from '../core/index.js';

/** How many rows were not found as expected, and what accounts for it: a gap, an audit, a dead letter, a poll, a fault. */
export interface Explanation {
  readonly by: string;
  readonly count: number;
}

/** The outcome of comparing one kind of figure with the ledger. */
export interface Comparison {
  readonly name: string;
  readonly expected: number;
  readonly found: number;
  readonly explained: readonly Explanation[];
  readonly unexplained: number;
  /** The first unexplained differences, a line each. */
  readonly examples: readonly string[];
  /** Why nothing, or not everything, was compared. */
  readonly notCompared?: string;
}

const MAX_EXAMPLES = 10;

/** Collects the differences of one comparison. */
export class Differences {
  readonly #explained = new Map<string, number>();
  readonly #examples: string[] = [];
  #unexplained = 0;

  constructor(private readonly name: string) {}

  explain(by: string, count = 1): void {
    this.#explained.set(by, (this.#explained.get(by) ?? 0) + count);
  }

  add(example: string): void {
    this.#unexplained += 1;
    if (this.#examples.length < MAX_EXAMPLES) this.#examples.push(example);
  }

  result(expected: number, found: number, notCompared?: string): Comparison {
    return {
      name: this.name,
      expected,
      found,
      explained: [...this.#explained].map(([by, count]) => ({ by, count })).sort((x, y) => y.count - x.count),
      unexplained: this.#unexplained,
      examples: this.#examples,
      ...(notCompared === undefined ? {} : { notCompared }),
    };
  }
}

export const notCompared = (name: string, why: string): Comparison => new Differences(name).result(0, 0, why);

/** What identifies a row, and its other values as one text. */
export type KeyedRow = readonly [key: string, value: string];

/** Compares rows by key, each as often as it is expected; a row with another value is one difference. */
export function compareRows(name: string, expected: readonly KeyedRow[], found: readonly KeyedRow[]): Comparison {
  const differences = new Differences(name);
  const wanted = byKey(expected);
  const here = byKey(found);
  for (const key of new Set([...wanted.keys(), ...here.keys()])) {
    const missing = [...(wanted.get(key) ?? [])];
    const surplus: string[] = [];
    for (const value of here.get(key) ?? []) {
      const index = missing.indexOf(value);
      if (index < 0) surplus.push(value);
      else missing.splice(index, 1);
    }
    for (let i = 0; i < Math.max(missing.length, surplus.length); i++) {
      differences.add(differenceText(key, missing[i], surplus[i]));
    }
  }
  return differences.result(expected.length, found.length);
}

function differenceText(key: string, wanted: string | undefined, here: string | undefined): string {
  if (here === undefined) return `${key}: missing; expected ${wanted || 'one row'}`;
  if (wanted === undefined) return `${key}: surplus ${here}`;
  return `${key}: expected ${wanted}, found ${here}`;
}

function byKey(rows: readonly KeyedRow[]): Map<string, string[]> {
  return groupBy(
    rows,
    ([key]) => key,
    ([, value]) => value,
  );
}
