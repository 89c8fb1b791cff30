/** Spreadsheets would run a text that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A line of CSV (RFC 4180). Texts that a spreadsheet would take for a formula begin with an apostrophe; NULL is empty.
 * @param ofNumbers by column, whether quoted numbers within a list or an object are numbers
 */
export function csvLine(cells: readonly unknown[], ofNumbers: readonly boolean[] = []): string {
  return `${cells.map((cell, i) => cellOf(cell, ofNumbers[i] === true)).join(',')}\r\n`;
}

/** A quoted number that is no key of an object. */
const QUOTED_NUMBER = /"(-?\d+(?:\.\d+)?)"(?!:)/g;

function cellOf(value: unknown, isOfNumbers: boolean): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const json = typeof value === 'string' ? value : JSON.stringify(value);
  const text = isOfNumbers && typeof value !== 'string' ? json.replace(QUOTED_NUMBER, '$1') : json;
  const safe = FORMULA.test(text) && !/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe === '' ? `"${safe.replaceAll('"', '""')}"` : safe;
}
