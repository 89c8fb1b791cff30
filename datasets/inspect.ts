import { createHash } from 'node:crypto';
import { sha256Hex } from '../core/index.js';
import type { FileServer } from './file-server.js';
import { text } from './sql-text.js';
import { type Column, type TableSchema, timeOf } from './statement.js';

/** First and last offset of one partition among the rows of a file. */
export interface OffsetRange {
  readonly log: string;
  readonly partition: number;
  readonly first: number;
  readonly last: number;
}

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

const quoted = (name: string): string => `\`${name}\``;

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
    const time = timeOf(this.table.time, this.table.columns);
    const at = (aggregate: string) => `if(count() = 0, NULL, toString(toUnixTimestamp64Micro(${aggregate}(${time}))))`;
    const [totals] = await this.#rows<{ rows: number; first_at: string | null; last_at: string | null }>(
      `SELECT toUInt64(count()) AS rows, ${at('min')} AS first_at, ${at('max')} AS last_at ${this.#from}`,
      signal,
    );
    const ranges = `SELECT _log AS log, _partition AS partition, min(_offset) AS first, max(_offset) AS last ${this.#from}
      GROUP BY log, partition ORDER BY log, partition`;
    return {
      rows: totals?.rows ?? 0,
      first_at: isoMicros(totals?.first_at),
      last_at: isoMicros(totals?.last_at),
      offsets: this.table.positions ? await this.#rows<OffsetRange>(ranges, signal) : [],
      content_sha256: await this.#digest(signal),
    };
  }

  /** The first row that is not behind the row before it, or not of this day; undefined when there is none. */
  async firstFault(day: string, signal: AbortSignal): Promise<RowFault | undefined> {
    if (!(await this.#mayHaveFault(day, signal))) return undefined;
    const key = this.table.sort_order.map((name) => this.#sortKey(name)).join(', ');
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

  /** Whether a row is not of this day, or not behind the row before it by the columns that decide the order of most rows. */
  async #mayHaveFault(day: string, signal: AbortSignal): Promise<boolean> {
    const { sort_order: names, time, columns } = this.table;
    const decisive = names.findIndex((name) => name === '_offset' || time.includes(name));
    const key = names.slice(0, decisive < 0 ? names.length : decisive + 1).map((name) => this.#sortKey(name));
    const [found] = await this.#rows<{ doubtful: number }>(
      `SELECT toUInt64(countIf(row > 1 AND key <= previous OR misplaced)) AS doubtful FROM
       (
         SELECT rowNumberInAllBlocks() + 1 AS row, tuple(${key.join(', ')}) AS key,
           lagInFrame(key) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS previous,
           toDate(${timeOf(time, columns)}, 'UTC') != ${text(day)} AS misplaced
         ${this.#from}
       )`,
      signal,
    );
    return found?.doubtful !== 0;
  }

  /** SHA-256 of the rows in the order of the file, in the encoding that the manifest describes. */
  async #digest(signal: AbortSignal): Promise<string> {
    const values = this.table.columns.map(({ name, type }) =>
      type.includes('DateTime64')
        ? `toUnixTimestamp64Micro(CAST(${quoted(name)}, ${text(inMicros(type))}))`
        : quoted(name),
    );
    const hash = createHash('sha256');
    const query = `SELECT ${values.join(', ')} ${this.#from} SETTINGS ${IN_ORDER} FORMAT RowBinary`;
    for await (const chunk of this.server.source.stream(query, signal)) hash.update(chunk);
    return hash.digest('hex');
  }

  /** A nullable column as a tuple that sorts NULL last. */
  #sortKey(name: string): string {
    const nullable = this.table.columns.find((column) => column.name === name)?.type.startsWith('Nullable');
    return nullable ? `(isNull(${quoted(name)}), assumeNotNull(${quoted(name)}))` : quoted(name);
  }

  #rows<Row>(query: string, signal: AbortSignal): Promise<Row[]> {
    return this.server.source.rows<Row>(`${query} SETTINGS ${IN_ORDER}`, signal);
  }
}

/** One reader, which returns rows in the order of the file. */
export const IN_ORDER = 'max_threads = 1, max_parsing_threads = 1, input_format_parquet_preserve_order = 1';

const inMicros = (type: string): string => type.replace(/DateTime64\(\d/, 'DateTime64(6');

function isoMicros(micros: string | null | undefined): string | null {
  if (micros === null || micros === undefined) return null;
  const value = BigInt(micros);
  const ms = Number(value / 1000n);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(value % 1000n).padStart(3, '0')}Z`;
}
