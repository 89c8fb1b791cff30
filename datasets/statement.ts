import type { LogPosition } from './positions.js';
import type { ExportRequest } from './request.js';
import { list, text } from './sql-text.js';
import { type ExportedTable, isReadFirst, sortOrder } from './tables.js';

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
  const conditions = [isReadFirst(table) ? 'true' : limit, inDay];
  if (table.rows) conditions.push(`(${table.rows})`);
  const column =
    table.selectBy ?? (['market', 'event'] as const).find((wanted) => columns.some((c) => c.name === wanted));
  if (selection && column === 'market') conditions.push(`market IN ${list(selection.markets)}`);
  // Rows without an event are about a whole connection.
  if (selection && column === 'event') conditions.push(`event IN ${list(['', ...selection.events])}`);
  const source = table.view ? `(${table.view(request, inDay)})` : table.name;
  return `FROM ${source}${table.final ? ' FINAL' : ''} WHERE ${conditions.join(' AND ')}`;
}

/** Number of rows per day, without rows outside of the days asked for. */
export function daysQuery(
  range: RowRange,
  { from, to }: { from?: string | undefined; to?: string | undefined },
): string {
  const day = `toString(toDate(${timeOf(range.table.time, range.columns)}, 'UTC'))`;
  const limits = [...(from ? [`day >= ${text(from)}`] : []), ...(to ? [`day <= ${text(to)}`] : [])];
  const having = limits.length > 0 ? ` HAVING ${limits.join(' AND ')}` : '';
  return `SELECT ${day} AS day, toUInt64(count()) AS rows ${fromClause(range)} GROUP BY day${having} ORDER BY day`;
}

/** The rows of one file in their order, without FORMAT. Needs the parameters `inner` and `outer` for a table with users. */
export function fileQuery(range: RowRange, day: string): string {
  const { table, columns } = range;
  const midnight = `toDateTime64(${text(`${day} 00:00:00`)}, 6, 'UTC')`;
  const time = timeOf(table.time, columns);
  const inDay = `${time} >= ${midnight} AND ${time} < ${midnight} + INTERVAL 1 DAY`;
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
