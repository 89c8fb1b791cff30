import type { TableBlock } from '../table.js';

/** Values of a statement's query parameters `{name:Type}`. */
export type QueryParams = Readonly<Record<string, unknown>>;
export type StatementSettings = Readonly<Record<string, string | number>>;

export interface ReadOptions {
  /** In these tables the read must see every row that any replica of the shard has acknowledged before. */
  readonly upToDate?: readonly string[];
}

export interface CommandOptions extends ReadOptions {
  readonly params?: QueryParams;
  readonly settings?: StatementSettings;
  /** The server rejects a statement while another with the same ID runs. */
  readonly queryId?: string;
  readonly signal?: AbortSignal | undefined;
}

/** An insert of one block. */
export interface InsertOptions {
  readonly queryId: string;
  readonly settings: StatementSettings;
  /** SELECT after the column list, which reads the block's rows from `input(…)`; default: none. */
  readonly select?: string;
  /** Called right before the first byte is sent; if it throws, nothing is sent. */
  readonly beforeSend?: () => void;
  readonly signal?: AbortSignal | undefined;
  /** As `upToDate` of reads: what the statement itself reads. */
  readonly upToDate?: readonly string[];
}

/**
 * One shard of the warehouse: a ClickHouse server, or several replicas. Its tables are in `database`. Every method throws
 * ConnectionError when no server responds and StatementError when the statement is rejected.
 */
export interface ShardConnection {
  /** The database of its tables. */
  readonly database: string;
  /** Its URL or URLs, for messages. */
  readonly url: string;
  /** The cluster's name in `remote_servers`; undefined for a single server. */
  readonly cluster?: string;
  /** The rows of a SELECT. */
  query<Row>(sql: string, params?: QueryParams, signal?: AbortSignal, options?: ReadOptions): Promise<Row[]>;
  /** The rows of a SELECT about the servers themselves, from each server that responds. */
  queryEvery<Row>(sql: string, params?: QueryParams, signal?: AbortSignal): Promise<Row[]>;
  /** Runs a statement without a result. */
  command(sql: string, options?: CommandOptions): Promise<void>;
  /** Runs a statement on each server that responds. */
  commandEvery(sql: string, signal?: AbortSignal): Promise<void>;
  /** Sends a block of rows as one request; resolves only when the server confirmed that they are stored. */
  insert(block: TableBlock, options: InsertOptions): Promise<void>;
  /** The single row of a SELECT that may read the block's rows as an external table named `block`. */
  queryWithBlock<Row>(sql: string, block: TableBlock, signal?: AbortSignal, options?: ReadOptions): Promise<Row>;
  close(): Promise<void>;
}
