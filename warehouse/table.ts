import { type Topic, UsageError } from '../core/index.js';

/** A column as in `system.columns`: the type's text must be identical. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** How exports write the rows of a table to files. */
export interface ExportedRows {
  /** The topics whose records may become its rows. */
  readonly topics: readonly Topic[];
  /** Columns with the time whose day is the file's: the first that is not NULL; else the day is 1970-01-01. */
  readonly time: readonly string[];
  /** Sort order of the files; the position on the bus follows as tie-break. */
  readonly order: readonly string[];
  /** Columns with user IDs or names, written as HMAC-SHA-256. */
  readonly users?: readonly string[];
  /** Whether all rows are about our accounts, which only exports with `--accounts` write. */
  readonly ofAccounts?: true;
  /** For a ReplacingMergeTree whose replaced rows are of no use: rows beyond the positions of the export are left out. */
  readonly bounded?: true;
}

interface TableBase {
  readonly name: string;
  /** Every column that the writer fills, in the order of a row's encoded values. The position columns are first. */
  readonly columns: readonly Column[];
  /** Whether a materialized view reads from this table: the view is run again unless an insert was a clear success. */
  readonly feedsMaterializedViews: boolean;
  /** Set for a small table that is on every shard of a cluster: the only topic that its rows come from. */
  readonly onEveryShardFor?: string;
  /** Absent where `datasets/tables.ts` has more to say about the table. */
  readonly exported?: ExportedRows;
}

/** A base MergeTree table: one row per position (`_log`, `_partition`, `_offset`, `_index`). */
export interface LogTable extends TableBase {
  readonly kind: 'log';
}

/** A ReplacingMergeTree: merges keep one row per ID, the one with the greatest version. */
export interface ReplacingTable extends TableBase {
  readonly kind: 'replacing';
  readonly id: readonly string[];
  /** The table's sorting key: columns that never change for an ID, the ID's among them. */
  readonly sortedBy: readonly string[];
  /** The version column of ReplacingMergeTree: an unsigned integer or a DateTime64 that increases. */
  readonly version: string;
}

export type TableDefinition = LogTable | ReplacingTable;

/**
 * The position of a row on the bus. Every table that the writer fills begins with these columns (`_topic` only if several
 * topics feed the table): the topic ID, the partition, the record's offset, the row's index within its record.
 */
const POSITION_COLUMNS: readonly Column[] = [
  { name: '_log', type: 'LowCardinality(String)' },
  { name: '_partition', type: 'UInt32' },
  { name: '_offset', type: 'UInt64' },
  { name: '_index', type: 'UInt32' },
];
export const TOPIC_COLUMN: Column = { name: '_topic', type: 'LowCardinality(String)' };

interface TableSpec {
  readonly name: string;
  /** Columns after the position columns: `[name, type]`. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** True when more than one topic feeds the table: its rows then have `_topic` too, before the other position columns. */
  readonly severalTopics?: boolean;
  readonly feedsMaterializedViews?: boolean;
  /** For a small table of reference data, which every shard of a cluster has: the only topic that feeds it. */
  readonly onEveryShardFor?: string;
  readonly exported?: ExportedRows;
}

/** What a ReplacingMergeTree table has beside its columns. */
export interface ReplacingSpec {
  readonly id: readonly string[];
  /** The ID's columns if omitted. */
  readonly sortedBy?: readonly string[];
  readonly version: string;
}

/** Defines a base table; the position columns are prepended. */
export function logTable(spec: TableSpec): LogTable {
  return { kind: 'log', ...base(spec) };
}

/** Defines a ReplacingMergeTree table; the position columns are prepended. */
export function replacingTable(spec: TableSpec & ReplacingSpec): ReplacingTable {
  const { id, sortedBy = id, version } = spec;
  const table: ReplacingTable = { kind: 'replacing', ...base(spec), id, sortedBy, version };
  for (const name of [...table.id, table.version]) {
    if (!table.columns.some((c) => c.name === name)) throw new UsageError(`table ${table.name} has no column ${name}`);
  }
  return table;
}

function base(spec: TableSpec): TableBase {
  const position = spec.severalTopics ? [TOPIC_COLUMN, ...POSITION_COLUMNS] : POSITION_COLUMNS;
  const columns = [...position, ...spec.columns.map(([name, type]) => ({ name, type }))];
  const names = new Set(columns.map((c) => c.name));
  if (names.size !== columns.length) throw new UsageError(`table ${spec.name} names a column twice`);
  const { name, feedsMaterializedViews = false, onEveryShardFor, exported } = spec;
  return {
    ...{ name, columns, feedsMaterializedViews },
    ...(onEveryShardFor === undefined ? {} : { onEveryShardFor }),
    ...(exported && { exported }),
  };
}

/** The rows of one table in one batch, encoded. */
export interface TableBlock {
  readonly table: TableDefinition;
  /** At least 1: a batch without rows for a table has no block for it. */
  readonly rows: number;
  /** Format of `body`; RowBinary when absent. A Native body is exactly one block with all columns of the table. */
  readonly format?: 'RowBinary' | 'Native';
  /** The rows, in the order of `table.columns`. Owned by the writer until the batch is done: do not reuse its memory. */
  readonly body: Buffer;
  /**
   * The same rows summed up, for a table whose materialized views do what those of `table` would do with all of its rows. An
   * insert sends it in their place, and says so (`SUMMARY_FOLLOWS`).
   */
  readonly summary?: TableBlock;
}

/** The `log_comment` of an insert with a summary: the materialized views of its table leave it out. */
export const SUMMARY_FOLLOWS = 'chancery: a summary follows';
