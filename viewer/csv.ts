/** Spreadsheets would run a text that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** A line of CSV (RFC 4180). Texts that a spreadsheet would take for a formula begin with an apostrophe; NULL is empty. */
export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) && !/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe === '' ? `"${safe.replaceAll('"', '""')}"` : safe;
}
