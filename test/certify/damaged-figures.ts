import { compareChances } from '../../certify/compare/chances.js';
import { comparePrices } from '../../certify/compare/prices.js';
import type { Comparison } from '../../certify/comparison.js';
import { compareFigures } from '../../certify/figures/compare-figures.js';
import { timesOf } from '../../certify/figures/input.js';
import { type Figures, questionsOf, readFigures } from '../../certify/figures/questions.js';
import { type Query, readAccounts, readStreams, type TextRow } from '../../certify/recorded.js';
import type { Ledger } from '../../certify/truth.js';

interface Recorded {
  readonly query: Query;
  readonly ledger: Ledger;
  /** Unix microseconds. */
  readonly recordedFrom: number;
  readonly closedAt: number;
}

type Name = keyof Figures;

/**
 * Changes one value of one row of every view of figures, column by column, and compares again.
 * @returns the columns in which the wrong value was not noticed, and the views of which no row is compared
 */
export async function unnoticedDamages({ query, ledger, recordedFrom, closedAt }: Recorded): Promise<string[]> {
  const times = timesOf({ recordedFrom, closedAt });
  const questions = questionsOf(times);
  const [streams, accounts] = [await readStreams(query), await readAccounts(query)];
  const openingChances = new Map(ledger.markets.map(({ marketId, openingChance }) => [marketId, openingChance]));
  const input = { prices: ledger.prices, openingChances, recorded: streams, faults: [], recordedFrom };
  const { shown } = comparePrices(input);
  const chances = compareChances(input);
  const whole = await readFigures(query, times);
  const compare = (figures: Figures): readonly Comparison[] =>
    compareFigures({ ledger, accounts, streams, shown, chances, figures, faults: [], recordedFrom, closedAt });
  const damaged = (damage: (name: Name, rows: readonly TextRow[]) => readonly TextRow[]): Figures =>
    Object.fromEntries(Object.entries(whole).map(([name, rows]) => [name, damage(name as Name, rows)])) as Figures;

  /** The keys of the first differences, each with the name of its comparison. */
  const differences = (figures: Figures): ReadonlySet<string> =>
    new Set(
      compare(figures).flatMap(({ name, examples }) =>
        examples.map((example) => `${name}, ${example.slice(0, example.indexOf(':'))}`),
      ),
    );
  const keyOf = (name: string, { key }: TextRow): string => `${name}, ${key.join(' ')}`;

  // A row that is compared: with every row damaged, it is among the first differences.
  const keys = differences(damaged((_, rows) => rows.map((row) => withDamage(row, 0))));
  const targets = Object.entries(whole).map(([name, rows]) => ({
    name: name as Name,
    row: rows.find((row) => keys.has(keyOf(name, row))),
    columns: questions[name as Name].value,
  }));
  const missed: string[] = targets.filter(({ row }) => row === undefined).map(({ name }) => name);
  for (let column = 0; column < Math.max(...targets.map(({ columns }) => columns.length)); column++) {
    const chosen = targets.filter(({ columns, row }) => row !== undefined && column < columns.length);
    const noticed = differences(
      damaged((name, rows) => {
        const row = chosen.find((one) => one.name === name)?.row;
        return row === undefined ? rows : rows.with(rows.indexOf(row), withDamage(row, column));
      }),
    );
    for (const { name, row, columns } of chosen) {
      if (row !== undefined && !noticed.has(keyOf(name, row))) missed.push(`${name}: ${columns[column]}`);
    }
  }
  return missed;
}

/** Of a number another one, of anything else another text. */
const withDamage = ({ key, value }: TextRow, column: number): TextRow => ({
  key,
  value: value.map((text, i) => {
    if (i !== column) return text;
    return text === '' || Number.isNaN(Number(text)) ? '7.25' : String(-1 - Number(text));
  }),
});
