import type { ExportedRows } from '../warehouse/index.js';
import type { ExportRequest } from './request.js';

/** A table whose rows an export writes. */
export interface ExportedTable extends Omit<ExportedRows, 'ofAccounts'> {
  readonly name: string;
  /**
   * SELECT of a table that is computed. It has no positions on the bus.
   * @param condition SQL of the rows that are needed, for its innermost part
   */
  readonly view?: (request: ExportRequest, condition: string) => string;
  /** Whether an import loads it although it is computed: its rows say what no other table does. */
  readonly loaded?: true;
  /** Whether rows of a day decide what was observed on the day before it: the next day after the exported ones is written, too. */
  readonly evidence?: true;
  /** Whether a row is about the time up to `ends_at`: rows that began before the first day of an export begin with that day. */
  readonly clipped?: true;
  /** Whether only the newest row of a key counts (ReplacingMergeTree): read with FINAL. */
  readonly final?: true;
  /** Columns that are not written: filled by ClickHouse's clock, or about an account. */
  readonly omitted?: readonly string[];
  /** Condition of the rows that are written, where others are about an account. */
  readonly rows?: string;
  /** Column that an export of some markets selects by, where it is not the first of market and event that exists. */
  readonly selectBy?: 'event';
  /** Columns with another value than in ClickHouse, as SQL. */
  readonly replaced?: Readonly<Record<string, string>>;
  /** What columns say where ClickHouse has no comment of them, or one of something else. */
  readonly comments?: Readonly<Record<string, string>>;
  /** Whether its rows have payloads, which may be large. */
  readonly payloads?: true;
  /** How its rows become lines of one file per market; absent: they are written as they are. */
  readonly lines?: MarketLines;
}

/** Lines of CSV that are made of the rows of a table, in one file per market. */
export interface MarketLines {
  /** The table that is read, where it is not a `view`. */
  readonly table?: string;
  /** Columns of the lines, behind the name of the exchange. The first one is `symbol`. */
  readonly columns: readonly string[];
  /** Order of the lines of a symbol. */
  readonly order: readonly string[];
  /**
   * SELECT of these columns, all as text, and of `day`.
   * @param rows SELECT of the rows
   */
  readonly select: (rows: string) => string;
  /** Condition of the rows that cannot be lines, and what they are. */
  readonly unwritable?: { readonly rows: string; readonly what: string };
}
