import { printable } from '../../core/index.js';

/** Displayed for NULL. */
const NULL_CELL = '∅';
const CLICKHOUSE_NULL = 'ᴺᵁᴸᴸ';
const MIN_WIDTH = 8;
const GAP = '  ';

/** The rows of a result: names, types and cells as text. */
export interface Rows {
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly cells: readonly (readonly string[])[];
}

/** Reads JSONCompactStringsEachRowWithNamesAndTypes. */
export function parseRows(text: string): Rows {
  const [names = [], types = [], ...cells] = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as string[]);
  return { names, types, cells };
}

/**
 * Renders rows as a table: numbers aligned at the decimal point, floats with 12 digits, NULL as ∅, control characters
 * escaped, cells truncated with … only when `width` is too narrow.
 * @param width columns of the window; Infinity truncates nothing
 */
export function renderTable(rows: Rows, width: number): { lines: string[]; cut: boolean } {
  const float = rows.types.map(isFloat);
  const numeric = rows.types.map(isNumeric);
  const shown = byPoint(
    rows.cells.map((row) => row.map((cell, i) => cellText(cell, float[i] === true))),
    numeric,
  );
  const names = rows.names.map(printable);
  const natural = names.map((name, i) =>
    shown.reduce((widest, row) => Math.max(widest, length(row[i] ?? '')), length(name)),
  );
  const widths = shrink(natural, numeric, width);
  const line = (row: readonly string[]) => row.map((cell, i) => pad(cell, widths[i] ?? 0, numeric[i] === true));
  const lines = [line(names), widths.map((w) => '─'.repeat(w)), ...shown.map(line)];
  return { lines: lines.map((cells) => cells.join(GAP).trimEnd()), cut: widths.some((w, i) => w < (natural[i] ?? 0)) };
}

function cellText(cell: string, float: boolean): string {
  if (cell === CLICKHOUSE_NULL) return NULL_CELL;
  return float && Number.isFinite(Number(cell)) ? roundFloat(cell) : printable(cell.replace(/\s*\n\s*/g, '⏎'));
}

/** Pads numbers on the right, so that the decimal points of a column are aligned. */
function byPoint(rows: readonly (readonly string[])[], numeric: readonly boolean[]): string[][] {
  const fractions = numeric.map((is, i) =>
    is ? rows.reduce((longest, row) => Math.max(longest, fractionOf(row[i] ?? '')), 0) : 0,
  );
  return rows.map((row) =>
    row.map((cell, i) =>
      PLAIN_NUMBER.test(cell) ? cell + ' '.repeat(Math.max(0, (fractions[i] ?? 0) - fractionOf(cell))) : cell,
    ),
  );
}

const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/** Number of characters from the decimal point on; 0 for integers and for anything but a plain number. */
function fractionOf(cell: string): number {
  return PLAIN_NUMBER.exec(cell)?.[1]?.length ?? 0;
}

/** Rounds 0.30000000000000004 to 0.3. The other formats keep every digit. */
function roundFloat(cell: string): string {
  return String(Number(Number(cell).toPrecision(12)));
}

function isFloat(type: string): boolean {
  return /^(LowCardinality\()?(Nullable\()?B?Float/.test(type);
}

function isNumeric(type: string): boolean {
  return /^(LowCardinality\()?(Nullable\()?(U?Int|Float|BFloat|Decimal)/.test(type);
}

/** Narrows the widest text column until the table fits; numbers are never truncated. */
function shrink(natural: readonly number[], numeric: readonly boolean[], width: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, w) => sum + w, 0) + GAP.length * (widths.length - 1) - width;
  while (excess > 0) {
    let widest = -1;
    for (const [i, w] of widths.entries()) {
      if (!numeric[i] && w > MIN_WIDTH && w > (widths[widest] ?? 0)) widest = i;
    }
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

function pad(cell: string, width: number, right: boolean): string {
  const fill = ' '.repeat(Math.max(0, width - length(cell)));
  if (length(cell) > width) return `${[...cell].slice(0, width - 1).join('')}…`;
  return right ? fill + cell : cell + fill;
}

/** Characters, not UTF-16 units. */
function length(text: string): number {
  return [...text].length;
}
