import type { TableBlock, TableDefinition } from '../table.js';

/** An offset range of one partition of one log: it identifies the rows of a batch. */
export interface BatchRange {
  readonly topic: string;
  readonly log: string;
  readonly partition: number;
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

export interface InsertRequest {
  /** Deduplication token: a block with a known token changes nothing. */
  readonly token: string;
  /** ClickHouse rejects a second query with the ID of a running one. */
  readonly queryId: string;
  /** Insert only rows whose position in this range is not in the table yet; absent: the complete block. */
  readonly onlyMissing?: BatchRange;
  /** Called right before the first byte is sent; a throw stops the request unsent. */
  readonly beforeSend: () => void;
  readonly signal: AbortSignal;
}

/** The exactly-once protocol's interface to ClickHouse. */
export interface BlockStore {
  /** Resolves only when the server confirmed that the rows are stored or that it knows the token. */
  insert(block: TableBlock, request: InsertRequest): Promise<void>;
  /** Rows of the batch in a log table, and their distinct positions: fewer positions than rows means duplicate rows. */
  countPositions(
    table: TableDefinition,
    range: BatchRange,
    signal: AbortSignal,
  ): Promise<{ rows: number; positions: number }>;
  /** Number of rows of the block whose positions, in this range, are not in a log table. */
  countMissing(block: TableBlock, range: BatchRange, signal: AbortSignal): Promise<number>;
  /** Number of IDs of the block that a replacing table has neither at the block's version nor at a later one. */
  countOutdated(block: TableBlock, signal: AbortSignal): Promise<number>;
  /** Runs a log table's materialized views over its rows of the batch, whether or not they have processed them. */
  feedViews(table: TableDefinition, range: BatchRange, signal: AbortSignal): Promise<void>;
  /** Number of these queries that are running. */
  countRunning(queryIds: readonly string[], signal: AbortSignal): Promise<number>;
  /** Kills these queries asynchronously: resolves before they have ended. */
  kill(queryIds: readonly string[], signal: AbortSignal): Promise<void>;
}
