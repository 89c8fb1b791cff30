import type { InsertOptions, QueryParams, StatementSettings } from '../connection.js';
import type { TableBlock } from '../table.js';

export interface ReadOptions {
  /** Tables of which everything must be seen that any replica of the shard acknowledged before. */
  readonly upToDate?: readonly string[];
}

export interface CommandOptions extends ReadOptions {
  readonly params?: QueryParams;
  readonly settings?: StatementSettings;
  /** The server refuses a statement while another with the same ID runs. */
  readonly queryId?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * One shard of the warehouse, as those who write to it see it: a ClickHouse server, or a few that hold the same.
 * Its tables are in `database`; every method throws ConnectionError when nobody answers and StatementError when the
 * statement is refused.
 */
export interface ShardConnection {
  /** Where its tables are. */
  readonly database: string;
  /** Where it is, for messages. */
  readonly url: string;
  /** The cluster, by the name that its servers know; undefined of a server that is all there is. */
  readonly cluster?: string;
  /** The rows of a SELECT. */
  query<Row>(sql: string, params?: QueryParams, signal?: AbortSignal, options?: ReadOptions): Promise<Row[]>;
  /** The rows of a SELECT about the servers themselves, from each that answers. */
  queryEvery<Row>(sql: string, params?: QueryParams, signal?: AbortSignal): Promise<Row[]>;
  /** Runs a statement that answers no rows. */
  command(sql: string, options?: CommandOptions): Promise<void>;
  /** Runs it on each server that answers. */
  commandEvery(sql: string, signal?: AbortSignal): Promise<void>;
  /** Sends a block of rows as one request; resolves only when the server said clearly that they are in. */
  insert(block: TableBlock, options: InsertOptions): Promise<void>;
  /** One row of a SELECT that may read the block's rows as a table named `block`. */
  queryWithBlock<Row>(sql: string, block: TableBlock, signal?: AbortSignal, options?: ReadOptions): Promise<Row>;
  close(): Promise<void>;
}
