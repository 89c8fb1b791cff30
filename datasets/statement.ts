import type { ExportedTable, MarketLines } from './exported-table.js';
import { shiftedDay } from './finished.js';
import type { LogPosition } from './positions.js';
import type { ExportRequest } from './request.js';
import { list, text } from './sql-text.js';
import { isReadFirst, sortOrder } from './tables.js';

/** The events and markets that an export is limited to. */
export interface Selection {
  readonly events: readonly string[];
  readonly markets: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly type: string;
  /** What it says; empty when nothing is known. */
  readonly comment?: string | undefined;
}

/** How the files of a table are written and sorted: what a manifest says about it. */
export interface TableSchema {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns by which the rows of a file are sorted; no two rows have the same values. NULL is last. */
  readonly sort_order: readonly string[];
  /** The first of these columns that is not NULL has the day of the file. */
  readonly time: readonly string[];
  /** Whether rows have positions on the bus. */
  readonly positions: boolean;
}

/** What the rows of a file, or of all files of a table, have in common. */
export interface RowRange {
  readonly table: ExportedTable;
  readonly request: ExportRequest;
  readonly columns: readonly Column[];
  readonly positions: readonly LogPosition[];
  readonly selection?: Selection | undefined;
}

/** FROM and WHERE: rows up to the positions, of the selected markets if the table has them, none about an account. */
function fromClause({ table, request, columns, positions, selection }: RowRange, inDay = 'true'): string {
  const bounds = positions
    .filter(({ topic, end }) => end > 0 && table.topics.some((own) => own === topic))
    .map(({ log, partition, end }) => `(_log = ${text(log)} AND _partition = ${partition} AND _offset < ${end})`);
  const limit = bounds.length === 0 ? 'false' : `(${bounds.join(' OR ')})`;
  // A row that was replaced since then has a later position, and is read all the same.
  const conditions = [isReadFirst(table) && !table.bounded ? 'true' : limit, inDay];
  if (table.rows) conditions.push(`(${table.rows})`);
  const column =
    table.selectBy ?? (['market', 'event'] as const).find((wanted) => columns.some((c) => c.name === wanted));
  if (selection && column === 'market') conditions.push(`market IN ${list(selection.markets)}`);
  // Rows without an event are about a whole connection.
  if (selection && column === 'event') conditions.push(`event IN ${list(['', ...selection.events])}`);
  const source = table.view ? `(${table.view(request, inDay)})` : sourceOf(table, request);
  return `FROM ${source}${table.final ? ' FINAL' : ''} WHERE ${conditions.join(' AND ')}`;
}

/** SQL of the rows of a table that is not computed. */
function sourceOf({ name, lines, clipped }: ExportedTable, { from }: ExportRequest): string {
  if (!clipped || from === undefined) return lines?.table ?? name;
  const first = `toDateTime64(${text(`${from} 00:00:00`)}, 6, 'UTC')`;
  return `(SELECT * REPLACE (toNullable(greatest(ifNull(begins_at, ${first}), ${first})) AS begins_at) FROM ${name} WHERE ends_at >= ${first})`;
}

/** Number of rows per day, or of lines per day and symbol, without rows outside of the days asked for. */
export function daysQuery(range: RowRange): string {
  const { table, columns, request } = range;
  const { from, to } = request;
  const last = to && table.evidence ? shiftedDay(to, 1) : to;
  const limits = [...(from ? [`day >= ${text(from)}`] : []), ...(last ? [`day <= ${text(last)}`] : [])];
  const having = limits.length > 0 ? ` HAVING ${limits.join(' AND ')}` : '';
  if (table.lines) {
    const lines = table.lines.select(`SELECT * ${linesClause(range)}`);
    return `SELECT toString(lines.day) AS day, symbol, toUInt64(count()) AS rows FROM (${lines}) AS lines
      GROUP BY day, symbol${having} ORDER BY day, symbol SETTINGS max_bytes_before_external_sort = 536870912`;
  }
  const day = `toString(toDate(${timeOf(table.time, columns)}, 'UTC'))`;
  return `SELECT ${day} AS day, toUInt64(count()) AS rows ${fromClause(range)} GROUP BY day${having} ORDER BY day`;
}

/** Number of rows per day that cannot be lines. */
export function unwritableQuery(range: RowRange): string {
  const day = `toString(toDate(${timeOf(range.table.time, range.columns)}, 'UTC'))`;
  const rows = range.table.lines?.unwritable?.rows ?? 'false';
  return `SELECT ${day} AS day, toUInt64(count()) AS rows ${fromClause(range)} AND (${rows}) GROUP BY day ORDER BY day`;
}

/** FROM and WHERE of the rows that become lines. */
const linesClause = (range: RowRange, inDay = 'true'): string =>
  `${fromClause(range, inDay)} AND NOT (${range.table.lines?.unwritable?.rows ?? 'false'})`;

/** Condition of the rows of a UTC day. */
function isInDay({ table, columns }: RowRange, day: string): string {
  const midnight = `toDateTime64(${text(`${day} 00:00:00`)}, 6, 'UTC')`;
  const time = timeOf(table.time, columns);
  return `${time} >= ${midnight} AND ${time} < ${midnight} + INTERVAL 1 DAY`;
}

/** The lines of a day of these symbols, those of each symbol together, without FORMAT. */
export function linesQuery(range: RowRange, lines: MarketLines, day: string, symbols: readonly string[]): string {
  const { request } = range;
  const rows = `SELECT * ${linesClause(range, isInDay(range, day))}`;
  return `SELECT ${text(request.exchangeName ?? '')} AS exchange, ${lines.columns.join(', ')} FROM (${lines.select(rows)})
    WHERE symbol IN ${list(symbols)} ORDER BY symbol, ${lines.order.join(', ')}`;
}

/** The rows of one file in their order, without FORMAT. Needs the parameters `inner` and `outer` for a table with users. */
export function fileQuery(range: RowRange, day: string): string {
  const { table, columns } = range;
  const inDay = isInDay(range, day);
  const order = sortOrder(table).join(', ');
  // Written values have the names of columns, which are not to replace these in conditions and order.
  const rows = `SELECT * ${fromClause(range, inDay)}`;
  const selected = columns.map((column) => `${writtenValue(column, table)} AS ${alias(column.name)}`).join(', ');
  const names = columns.map(({ name }) => `${alias(name)} AS \`${name}\``).join(', ');
  return `SELECT ${names} FROM (SELECT ${selected} FROM (${rows}) ORDER BY ${order})`;
}

/** SQL of the time of a row: the first of these columns that is not NULL. */
export function timeOf(names: readonly string[], columns: readonly Column[]): string {
  const nullable = names.some((name) => columns.find((column) => column.name === name)?.type.startsWith('Nullable'));
  return nullable ? `coalesce(${names.join(', ')}, toDateTime64(0, 6, 'UTC'))` : (names[0] ?? '');
}

const alias = (name: string): string => `\`written ${name}\``;

/** Without LowCardinality and Enum, whose dictionaries differ between parts: the bytes depend on the values alone. */
function writtenValue({ name, type }: Column, table: ExportedTable): string {
  const value = table.replaced?.[name] ?? `\`${name}\``;
  const plain = plainType(type);
  if (table.users?.includes(name)) return `CAST(if(${value} = '', ${value}, ${hmac(value)}), ${text(plain)})`;
  return plain === type && !table.replaced?.[name] ? value : `CAST(${value}, ${text(plain)})`;
}

/** HMAC-SHA-256 as RFC 2104 defines it, in hexadecimal digits; the parameters are the key's two blocks. */
const hmac = (value: string): string =>
  `lower(hex(SHA256(concat(unhex({outer:String}), SHA256(concat(unhex({inner:String}), toString(${value})))))))`;

export function plainType(type: string): string {
  const without = type.replace(/LowCardinality\((Nullable\([^()]*\)|[^()]*)\)/g, '$1');
  return without.replace(/Enum(8|16)\([^()]*\)/g, 'String');
}
