import { createHash } from 'node:crypto';
import { sha256Hex } from '../core/index.js';
import type { FileServer } from './file-server.js';
import { IN_ORDER, type OffsetRange, type Scan, type ScanChecks, scanQuery, sortKey } from './scan.js';
import { quoted, text } from './sql-text.js';
import { type Column, type TableSchema, timeOf } from './statement.js';

/** What a file has, computed from its rows. */
export interface FileContent {
  readonly rows: number;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly offsets: readonly OffsetRange[];
  readonly content_sha256: string;
}

/** A row that is not where it should be; rows count from 1. */
export interface RowFault {
  readonly row: number;
  readonly what: string;
}

/** SQL of the rows of one or more Parquet files, with the column types of their table. */
export function fileRows(path: string, { columns }: Pick<TableSchema, 'columns'>): string {
  const structure = columns.map(({ name, type }) => `${quoted(name)} ${type}`).join(', ');
  return `file(${text(path)}, Parquet, ${text(structure)})`;
}

/** A schema's hash: SHA-256 of the JSON of its columns as [name, type] pairs. */
export const schemaHash = (columns: readonly Column[]): string =>
  sha256Hex(JSON.stringify(columns.map(({ name, type }) => [name, type])));

/** Reads one file of a dataset. */
export class FileInspector {
  readonly #from: string;
  readonly #describe: string;

  constructor(
    private readonly server: FileServer,
    path: string,
    private readonly table: TableSchema,
    folder: string = server.folder,
  ) {
    this.#from = `FROM ${fileRows(`${folder}/${path}`, table)}`;
    this.#describe = `DESCRIBE TABLE file(${text(`${folder}/${path}`)}, Parquet)`;
  }

  /** Columns as the file itself says. */
  async columns(signal: AbortSignal): Promise<Column[]> {
    const columns = await this.server.source.rows<Column>(this.#describe, signal);
    return columns.map(({ name, type }) => ({ name, type }));
  }

  async content(signal: AbortSignal): Promise<FileContent> {
    return this.contentOf(await this.scan({ day: undefined, damaged: [], bounded: [] }, signal), signal);
  }

  /** What one pass over the rows finds. */
  async scan(checks: ScanChecks, signal: AbortSignal): Promise<Scan> {
    const [found] = await this.server.source.rows<Scan>(scanQuery(this.#from, this.table, checks), signal);
    if (!found) throw new Error('a query of totals has no row');
    return found;
  }

  async contentOf({ rows, first_at, last_at, offsets }: Scan, signal: AbortSignal): Promise<FileContent> {
    return {
      rows,
      first_at: isoMicros(first_at),
      last_at: isoMicros(last_at),
      offsets,
      content_sha256: await this.#digest(signal),
    };
  }

  /** The first row that is not behind the row before it, or not of this day; undefined when there is none. */
  async firstFault(day: string, signal: AbortSignal): Promise<RowFault | undefined> {
    const key = this.table.sort_order.map((name) => sortKey(name, this.table)).join(', ');
    const time = timeOf(this.table.time, this.table.columns);
    const query = `
      SELECT row, disordered, equal FROM
      (
        SELECT rowNumberInAllBlocks() + 1 AS row, tuple(${key}) AS key, toDate(${time}, 'UTC') != ${text(day)} AS misplaced,
          lagInFrame(key) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS previous,
          row > 1 AND key <= previous AS disordered, row > 1 AND key = previous AS equal
        ${this.#from}
      )
      WHERE disordered OR misplaced LIMIT 1`;
    const [fault] = await this.#rows<{ row: number; disordered: boolean | number; equal: boolean | number }>(
      query,
      signal,
    );
    if (!fault) return undefined;
    const order = `the sort order ${this.table.sort_order.join(', ')}`;
    if (fault.equal)
      return { row: fault.row, what: `has the same ${this.table.sort_order.join(', ')} as the row before it` };
    if (fault.disordered) return { row: fault.row, what: `is not in ${order}` };
    return { row: fault.row, what: `has a ${this.table.time[0]} outside of ${day}` };
  }

  /** SHA-256 of the rows in the order of the file, in the encoding that the manifest describes. */
  async #digest(signal: AbortSignal): Promise<string> {
    const values = this.table.columns.map(({ name, type }) =>
      type.includes('DateTime64')
        ? `toUnixTimestamp64Micro(CAST(${quoted(name)}, ${text(inMicros(type))}))`
        : quoted(name),
    );
    const hash = createHash('sha256');
    const query = `SELECT ${values.join(', ')} ${this.#from} SETTINGS ${IN_ORDER}, output_format_parallel_formatting = 0 FORMAT RowBinary`;
    await this.server.bytes(query, (bytes) => hash.update(bytes), signal);
    return hash.digest('hex');
  }

  #rows<Row>(query: string, signal: AbortSignal): Promise<Row[]> {
    return this.server.source.rows<Row>(`${query} SETTINGS ${IN_ORDER}`, signal);
  }
}

const inMicros = (type: string): string => type.replace(/DateTime64\(\d/, 'DateTime64(6');

function isoMicros(micros: string | null | undefined): string | null {
  if (micros === null || micros === undefined) return null;
  const value = BigInt(micros);
  const ms = Number(value / 1000n);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(value % 1000n).padStart(3, '0')}Z`;
}
