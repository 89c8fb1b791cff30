import { quoted, text } from './sql-text.js';
import { type TableSchema, timeOf } from './statement.js';

/** First and last offset of one partition among the rows of a file. */
export interface OffsetRange {
  readonly log: string;
  readonly partition: number;
  readonly first: number;
  readonly last: number;
}

/** The smallest and the greatest value of a column, as text, with the number of rows that have it. */
export interface Bounds {
  readonly min: string;
  readonly min_rows: number;
  readonly max: string;
  readonly max_rows: number;
}

/** What one pass over the rows of a file finds. */
export interface Scan {
  readonly rows: number;
  /** Unix microseconds. */
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly offsets: readonly OffsetRange[];
  /** Rows that are not of the day, or not behind the row before them by the columns that decide the order of most rows. */
  readonly doubtful: number;
  /** Rows for which one of the conditions holds. */
  readonly damaged: number;
  /** The bounds of the columns that were asked for. */
  readonly bounds: readonly Bounds[];
}

export interface ScanChecks {
  /** UTC day of the rows; absent: neither day nor order is compared. */
  readonly day: string | undefined;
  /** SQL conditions. */
  readonly damaged: readonly string[];
  /** Columns whose bounds are looked for; none is nullable. */
  readonly bounded: readonly string[];
}

/** One reader, which returns rows in the order of the file. */
export const IN_ORDER = 'max_threads = 1, max_parsing_threads = 1, input_format_parquet_preserve_order = 1';

/**
 * A query with one row, a `Scan`. Its names begin with `scan_`, which those of no column do.
 * @param from SQL of the rows, from FROM
 */
export function scanQuery(from: string, table: TableSchema, { day, damaged, bounded }: ScanChecks): string {
  const groups = table.positions ? 'GROUP BY _log, _partition' : '';
  const parts = [
    totals(table),
    ...(day === undefined ? [] : [order(table, day)]),
    { inner: [`countIf(${damaged.map((one) => `ifNull(${one}, false)`).join(' OR ') || 'false'}) AS scan_damaged`] },
    ...bounded.map(bounds),
  ];
  const inner = parts.flatMap((part) => part.inner);
  const aliases = parts.flatMap((part) => part.aliases ?? []);
  const outer = [
    ...parts.flatMap((part) => part.outer ?? []),
    `toUInt64(${day === undefined ? '0' : `sum(scan_doubtful) + ${DOUBTFUL_EDGES}`}) AS doubtful`,
    'toUInt64(sum(scan_damaged)) AS damaged',
    `CAST([${bounded.map((_, number) => `scan_bounds_${number}`).join(', ')}], ${text(BOUNDS)}) AS bounds`,
  ];
  return `
    ${aliases.length === 0 ? '' : `WITH ${aliases.join(', ')}`}
    SELECT ${outer.join(', ')}
    FROM (SELECT ${inner.join(', ')} ${day === undefined ? from : `FROM (${withPrevious(from, table)})`} ${groups})
    SETTINGS ${IN_ORDER}, allow_deprecated_error_prone_window_functions = 1`;
}

/** What is computed per partition, and of all partitions. */
interface Part {
  readonly inner: readonly string[];
  readonly aliases?: readonly string[];
  readonly outer?: readonly string[];
}

const OFFSETS = 'Array(Tuple(log String, partition UInt32, first UInt64, last UInt64))';
const BOUNDS = 'Array(Tuple(min String, min_rows UInt64, max String, max_rows UInt64))';

function totals(table: TableSchema): Part {
  const time = timeOf(table.time, table.columns);
  const at = (value: string) => `if(rows = 0, NULL, toString(toUnixTimestamp64Micro(${value})))`;
  const positions = ['_log', '_partition', 'min(_offset) AS scan_first', 'max(_offset) AS scan_last'];
  const ranges = table.positions ? 'arraySort(groupArray((_log, _partition, scan_first, scan_last)))' : '[]';
  return {
    inner: [
      ...['count() AS scan_rows', `min(${time}) AS scan_first_at`, `max(${time}) AS scan_last_at`],
      ...(table.positions ? positions : []),
    ],
    outer: [
      'toUInt64(sum(scan_rows)) AS rows',
      ...[`${at('min(scan_first_at)')} AS first_at`, `${at('max(scan_last_at)')} AS last_at`],
      `CAST(${ranges}, ${text(OFFSETS)}) AS offsets`,
    ],
  };
}

/**
 * Rows with the one before them. `neighbor` takes much less CPU time than a window function, but looks for it within a block
 * of rows only: the last row of each block is compared with the first one of the next afterwards.
 */
function withPrevious(from: string, table: TableSchema): string {
  const key = decisiveColumns(table).map((name) => sortKey(name, table));
  return `
    SELECT *, tuple(${key.join(', ')}) AS scan_key, neighbor(scan_key, -1) AS scan_previous, rowNumberInAllBlocks() AS scan_row,
      rowNumberInBlock() = 0 AS scan_is_first, rowNumberInBlock() = blockSize() - 1 AS scan_is_last
    ${from}`;
}

function order(table: TableSchema, day: string): Part {
  const isMisplaced = `toDate(${timeOf(table.time, table.columns)}, 'UTC') != ${text(day)}`;
  return {
    inner: [
      `countIf(NOT scan_is_first AND scan_key <= scan_previous OR ${isMisplaced}) AS scan_doubtful`,
      'groupArrayIf((scan_row, scan_key), scan_is_first OR scan_is_last) AS scan_edges',
    ],
    aliases: ['arraySort(groupArrayArray(scan_edges)) AS scan_all_edges'],
  };
}

const DOUBTFUL_EDGES =
  'arrayCount((after, before) -> after.2 <= before.2, arrayPopFront(scan_all_edges), arrayPopBack(scan_all_edges))';

function bounds(column: string, number: number): Part {
  const [name, least, most] = [quoted(column), `scan_min_${number}`, `scan_max_${number}`];
  const rows = (end: 'Min' | 'Max', value: string) => `toUInt64(sumArg${end}(${value}_rows, ${value}))`;
  return {
    inner: [
      `min(${name}) AS ${least}, countArgMin(${name}) AS ${least}_rows`,
      `max(${name}) AS ${most}, countArgMax(${name}) AS ${most}_rows`,
    ],
    aliases: [
      `(toString(min(${least})), ${rows('Min', least)}, toString(max(${most})), ${rows('Max', most)}) AS scan_bounds_${number}`,
    ],
  };
}

/** The first columns of the sort order, up to the offset or a time. */
function decisiveColumns({ sort_order: names, time }: TableSchema): readonly string[] {
  const decisive = names.findIndex((name) => name === '_offset' || time.includes(name));
  return names.slice(0, decisive < 0 ? names.length : decisive + 1);
}

/** A nullable column as a tuple that sorts NULL last. */
export function sortKey(name: string, { columns }: Pick<TableSchema, 'columns'>): string {
  const nullable = columns.find((column) => column.name === name)?.type.startsWith('Nullable');
  return nullable ? `(isNull(${quoted(name)}), assumeNotNull(${quoted(name)}))` : quoted(name);
}
