/** Columns that depend on the time of the query or of the insert. */
const OF_NOW =
  /^((first_|last_)?written_at|computed_at|(price_)?age_seconds|delay_\w+|open_to|ends_at|(open_|gap_|missing_|backfilled_)?seconds|(volume_)?(observed|missing)|backfilled|average_spread|median_spread|p90_spread|two_sided|missed_ranges)$/;

/** Of these, those whose values are not compared at all. */
const NEVER_COMPARED = /written_at|computed_at|age|delay/;

export type Row = Readonly<Record<string, unknown>>;

interface Comparable {
  /** Each row as text, without the columns that depend on the time. */
  readonly exact: readonly string[];
  /** The columns of each row that depend on the time, as numbers. */
  readonly moments: readonly (readonly number[])[];
}

/** Rows, sorted, with the columns that depend on the time apart. */
export function comparable(rows: readonly Row[]): Comparable {
  const split = rows.map((row) => {
    const entries = Object.entries(row);
    const text = JSON.stringify(entries.filter(([name]) => !OF_NOW.test(name)));
    const moments = entries.filter(([name]) => OF_NOW.test(name) && !NEVER_COMPARED.test(name));
    return { text, values: moments.map(([, value]) => momentOf(value)) };
  });
  split.sort((a, b) => (a.text < b.text ? -1 : 1));
  return { exact: split.map(({ text }) => text), moments: split.map(({ values }) => values) };
}

/** Values of the columns that depend on the time that differ by more than the seconds between two queries explain. */
export const farMoments = (found: Comparable, expected: Comparable): number[] =>
  found.moments.flatMap((moments, row) =>
    moments.filter((value, column) => !near(value, expected.moments[row]?.[column] ?? Number.NaN)),
  );

/** Seconds, fractions, and times as seconds; -1 for unknown values. */
function momentOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? Date.parse(`${value}Z`) / 1000 : -1;
}

const near = (a: number, b: number): boolean => Math.abs(a - b) <= (Math.abs(b) > 2 ? 15 : 0.01);
