import type { TableBlock, TableDefinition } from '../../warehouse/index.js';
import { type NativeColumn, RELEASE_FACTOR } from './columns.js';
import { NativeBody } from './native-body.js';

const MIN_CAPACITY = 1024;

/** The columns of one table in one batch, filled row by row and written as one block of Native format. */
export class NativeBlock {
  #rows = 0;
  #capacity = 0;

  /** @param columns one per column of the table, in its order */
  constructor(
    private readonly table: TableDefinition,
    private readonly columns: readonly NativeColumn[],
  ) {
    if (columns.length !== table.columns.length) {
      throw new RangeError(`${table.name} has ${table.columns.length} columns, not ${columns.length}`);
    }
  }

  get rows(): number {
    return this.#rows;
  }

  /** Adds a row and returns its number; the caller sets its value in every column. */
  nextRow(): number {
    const row = this.#rows;
    if (row === this.#capacity) this.#resize(Math.max(MIN_CAPACITY, row * 2));
    this.#rows = row + 1;
    return row;
  }

  finish(): TableBlock | null {
    const rows = this.#rows;
    if (rows === 0) return null;
    const body = new NativeBody(this.columns.length, rows);
    this.columns.forEach((column, i) => {
      column.writeTo(body, this.table.columns[i]?.name ?? '', rows);
    });
    this.#rows = 0;
    if (Math.max(MIN_CAPACITY, rows * RELEASE_FACTOR) < this.#capacity) this.#resize(0);
    return { table: this.table, rows, format: 'Native', body: body.finish() };
  }

  #resize(capacity: number): void {
    this.#capacity = capacity;
    for (const column of this.columns) column.resize(capacity);
  }
}
