import {
  type ExportedRows,
  type LogTable,
  logTable,
  type ReplacingSpec,
  type ReplacingTable,
  RowBinaryWriter,
  replacingTable,
  type TableBlock,
  type TableDefinition,
} from '../../warehouse/index.js';
import type { ColumnType } from './column-types.js';

/** The parts of a row's position that are common to a whole batch. */
export interface SourcePartition {
  readonly topic: string;
  /** The topic ID. */
  readonly log: string;
  readonly partition: number;
}

/** Encodes the rows of one table in one batch. */
export interface BlockBuilder<Row> {
  readonly rows: number;
  /** Approximate bytes of the rows so far. */
  readonly bytes: number;
  /** @param index number of the row within its record, from 0 */
  append(offset: number, index: number, row: Row): void;
  /** Returns the block; null without rows. The builder is then empty and may be used for another batch. */
  finish(): TableBlock | null;
}

/** A table that transforms write: its definition, and the encoding of its rows. */
export interface RowTable<Row> {
  readonly definition: TableDefinition;
  newBlock(source: SourcePartition): BlockBuilder<Row>;
}

/** A column, and the encoding of its value in a row. */
export interface RowColumn<Row> {
  readonly name: string;
  readonly type: string;
  write(writer: RowBinaryWriter, row: Row): void;
}

/** Defines a column by name, type, and a getter for its value in a row. */
export function column<Row, T>(name: string, type: ColumnType<T>, get: (row: Row) => T): RowColumn<Row> {
  return { name, type: type.type, write: (writer, row) => type.write(writer, get(row)) };
}

interface RowTableSpec<Row> {
  readonly name: string;
  readonly columns: readonly RowColumn<Row>[];
  readonly severalTopics?: boolean;
  readonly feedsMaterializedViews?: boolean;
  readonly onEveryShardFor?: string;
  readonly exported?: ExportedRows;
}

/** Defines a base table whose rows are written in RowBinary. */
export function rowLogTable<Row>(spec: RowTableSpec<Row>): RowTable<Row> & { readonly definition: LogTable } {
  const definition = logTable({ ...spec, columns: spec.columns.map((c) => [c.name, c.type] as const) });
  return { definition, newBlock: (source) => new RowBinaryBlock(definition, spec, source) };
}

/** Defines a ReplacingMergeTree table whose rows are written in RowBinary. */
export function rowReplacingTable<Row>(
  spec: RowTableSpec<Row> & ReplacingSpec,
): RowTable<Row> & { readonly definition: ReplacingTable } {
  const definition = replacingTable({ ...spec, columns: spec.columns.map((c) => [c.name, c.type] as const) });
  return { definition, newBlock: (source) => new RowBinaryBlock(definition, spec, source) };
}

class RowBinaryBlock<Row> implements BlockBuilder<Row> {
  readonly #writer = new RowBinaryWriter(4096);
  /** The position columns that are equal in all rows, encoded. */
  readonly #front: Buffer;
  #rows = 0;

  constructor(
    private readonly definition: TableDefinition,
    private readonly spec: RowTableSpec<Row>,
    source: SourcePartition,
  ) {
    const front = new RowBinaryWriter(256);
    if (spec.severalTopics) front.string(source.topic);
    front.string(source.log);
    front.u32(source.partition);
    this.#front = front.take();
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#writer.length;
  }

  append(offset: number, index: number, row: Row): void {
    const writer = this.#writer;
    writer.raw(this.#front);
    writer.u64(offset);
    writer.u32(index);
    for (const it of this.spec.columns) it.write(writer, row);
    this.#rows += 1;
  }

  finish(): TableBlock | null {
    if (this.#rows === 0) return null;
    const block = { table: this.definition, rows: this.#rows, body: this.#writer.take() };
    this.#rows = 0;
    return block;
  }
}
