import { UsageError } from '../core/index.js';

/** A column as ClickHouse shows it in `system.columns`: the type's text must be equal to the letter. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

interface TableBase {
  readonly name: string;
  /** Every column that code writes, in the order in which the values of a row are encoded. Place columns come first. */
  readonly columns: readonly Column[];
  /** Whether a materialized view reads the inserts of this table: then it is run again after anything but a clear success. */
  readonly feedsMaterializedViews: boolean;
  /** Set for a small table that is on every shard of a cluster: the one topic that its rows come from. */
  readonly onEveryShardFor?: string;
}

/** A base MergeTree table: one row per place (`_log`, `_partition`, `_offset`, `_index`), never two. */
export interface LogTable extends TableBase {
  readonly kind: 'log';
}

/** A ReplacingMergeTree: one row per ID in the end, the one with the greatest version. */
export interface ReplacingTable extends TableBase {
  readonly kind: 'replacing';
  /** The columns that make up the ID: the table's sorting key. */
  readonly id: readonly string[];
  /** The column given to ReplacingMergeTree: an unsigned integer or a DateTime64 that grows. */
  readonly version: string;
}

export type TableDefinition = LogTable | ReplacingTable;

/**
 * Where a row comes from. Every table that the writer fills begins with these columns (`_topic` only where several
 * topics feed the table): the log's identity, its partition, the record's offset, the row's number inside its record.
 */
export const PLACE_COLUMNS: readonly Column[] = [
  { name: '_log', type: 'LowCardinality(String)' },
  { name: '_partition', type: 'UInt32' },
  { name: '_offset', type: 'UInt64' },
  { name: '_index', type: 'UInt32' },
];
export const TOPIC_COLUMN: Column = { name: '_topic', type: 'LowCardinality(String)' };

interface TableSpec {
  readonly name: string;
  /** Columns after the place columns: `[name, type]`. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** True when more than one topic feeds the table: its rows then carry `_topic` too, before the other place columns. */
  readonly severalTopics?: boolean;
  readonly feedsMaterializedViews?: boolean;
  /** For a small table of reference data, which every shard of a cluster is to have: the one topic that feeds it. */
  readonly onEveryShardFor?: string;
}

/** Defines a base table; the place columns are put in front. */
export function logTable(spec: TableSpec): LogTable {
  return { kind: 'log', ...base(spec) };
}

/** Defines a ReplacingMergeTree table; the place columns are put in front. */
export function replacingTable(
  spec: TableSpec & { readonly id: readonly string[]; readonly version: string },
): ReplacingTable {
  const table: ReplacingTable = { kind: 'replacing', ...base(spec), id: spec.id, version: spec.version };
  for (const name of [...table.id, table.version]) {
    if (!table.columns.some((c) => c.name === name)) throw new UsageError(`table ${table.name} has no column ${name}`);
  }
  return table;
}

function base(spec: TableSpec): TableBase {
  const place = spec.severalTopics ? [TOPIC_COLUMN, ...PLACE_COLUMNS] : PLACE_COLUMNS;
  const columns = [...place, ...spec.columns.map(([name, type]) => ({ name, type }))];
  const names = new Set(columns.map((c) => c.name));
  if (names.size !== columns.length) throw new UsageError(`table ${spec.name} names a column twice`);
  const { name, feedsMaterializedViews = false, onEveryShardFor } = spec;
  return { name, columns, feedsMaterializedViews, ...(onEveryShardFor === undefined ? {} : { onEveryShardFor }) };
}

/** The rows of one table in one batch, encoded. */
export interface TableBlock {
  readonly table: TableDefinition;
  /** At least 1: a batch without rows for a table has no block for it. */
  readonly rows: number;
  /** How `body` is encoded; RowBinary when absent. A Native body is exactly one block with a column per table column. */
  readonly format?: 'RowBinary' | 'Native';
  /** The rows, in the order of `table.columns`. Owned by the writer until the batch is done: do not reuse its memory. */
  readonly body: Buffer;
}
