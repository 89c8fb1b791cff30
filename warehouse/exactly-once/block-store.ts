import type { TableBlock, TableDefinition } from '../table.js';

/** A range of offsets of one partition of one log: which rows of a table belong to a batch. */
export interface BatchPlace {
  readonly topic: string;
  readonly log: string;
  readonly partition: number;
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

export interface InsertRequest {
  /** What the server remembers, so that a block that comes again under it changes nothing. */
  readonly token: string;
  /** Never runs twice at the same time. */
  readonly queryId: string;
  /** Only rows whose place is not in the table yet; without it, the whole block. */
  readonly onlyMissing?: BatchPlace;
  /** Called right before the first byte is sent; a throw stops the request unsent. */
  readonly beforeSend: () => void;
  readonly signal: AbortSignal;
}

/** What the exactly-once protocol needs from ClickHouse. */
export interface BlockStore {
  /** Resolves only when the server said clearly that the rows are in, or that it knows the token. */
  insert(block: TableBlock, request: InsertRequest): Promise<void>;
  /** How many rows of the batch a log table has, and in how many places: more rows than places means doubled rows. */
  countPlaces(
    table: TableDefinition,
    place: BatchPlace,
    signal: AbortSignal,
  ): Promise<{ rows: number; places: number }>;
  /** How many IDs of the block a replacing table does not have at the block's version or a later one. */
  countOutdated(block: TableBlock, signal: AbortSignal): Promise<number>;
  /** Runs a log table's materialized views over its rows of the batch, whether they have seen them or not. */
  feedViews(table: TableDefinition, place: BatchPlace, signal: AbortSignal): Promise<void>;
  /** How many of these queries are running. */
  countRunning(queryIds: readonly string[], signal: AbortSignal): Promise<number>;
  /** Asks the server to end these queries; resolves without waiting for their end. */
  kill(queryIds: readonly string[], signal: AbortSignal): Promise<void>;
}
