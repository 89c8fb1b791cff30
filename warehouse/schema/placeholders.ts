import { UsageError } from '../../core/index.js';
import { quoteText } from '../connection.js';
import { SUMMARY_FOLLOWS } from '../table.js';

/** Values of the placeholders in SQL files. */
export interface Placeholders {
  readonly database: string;
  /** Whether inserts are flushed to disk before they are acknowledged. */
  readonly fsync: boolean;
  /** Replication path of this node's tables, on a cluster with replicas. */
  readonly replicated?: ReplicaPath;
  /** Further placeholders and their values. */
  readonly values?: Readonly<Record<string, string | number>>;
}

/** Path and name of a node in the coordination service. */
interface ReplicaPath {
  /** Parent of the paths of the shard's tables; the same on all replicas of the shard, and on no other node. */
  readonly path: string;
  /** Name of this replica. */
  readonly replica: string;
}

/**
 * Number of parts whose tokens ClickHouse stores. It must cover the inserts of other workers into the table while
 * a paused worker may still send: 300 parts/s for the 30 s after which its idle connection is closed.
 */
const DEDUPLICATION_WINDOW = 10_000;
/** Replicated tables also drop tokens by age, seconds; a batch may be finished as long as its records are on the bus. */
const DEDUPLICATION_SECONDS = 30 * 86_400;
/** Parts with fewer bytes, uncompressed, are one file for all columns: an insert calls fsync once for every file. */
const WIDE_PART_BYTES = 64 * 2 ** 20;
const ENGINE = /\{engine:\s*(\w+)\s*(?:\(((?:[^(){}]|\([^()]*\))*)\))?\s*\}/g;

/**
 * Fills the placeholders of a SQL file:
 * - `{database}`: the database's name;
 * - `{engine:MergeTree}`, `{engine:ReplacingMergeTree(version)}`: the engine, Replicated if replicas are configured;
 * - `{log_settings}`: settings of tables that the exactly-once writer fills (SETTINGS {log_settings});
 * - `{view_settings}`: settings of tables that materialized views fill;
 * - `{no_summary_follows}`: in the WHERE of a materialized view, a condition that leaves out inserts with a summary.
 *
 * ClickHouse's query parameters, `{name:Type}`, are not changed.
 * @throws UsageError for an unknown placeholder
 */
export function fillPlaceholders(sql: string, options: Placeholders, file: string): string {
  const durable = options.fsync
    ? 'fsync_after_insert = 1, fsync_part_directory = 1'
    : 'fsync_after_insert = 0, fsync_part_directory = 0';
  const { replicated } = options;
  const window = (size: number) =>
    replicated
      ? `replicated_deduplication_window = ${size}, replicated_deduplication_window_seconds = ${DEDUPLICATION_SECONDS}`
      : `non_replicated_deduplication_window = ${size}`;
  const values: Record<string, string | number> = {
    ...options.values,
    database: options.database,
    log_settings: `${window(DEDUPLICATION_WINDOW)}, ${durable}, min_bytes_for_wide_part = ${WIDE_PART_BYTES}`,
    // Resent rows run materialized views again; deduplication in their targets would drop rows that the first run lost.
    view_settings: `${window(0)}, ${durable}`,
    no_summary_follows: `getSetting('log_comment') != ${quoteText(SUMMARY_FOLLOWS)}`,
  };
  const withEngines = sql.replace(ENGINE, (_whole, engine: string, args: string | undefined) =>
    replicated ? replicatedEngine(engine, args ?? '', replicated) : `${engine}${args ? `(${args})` : ''}`,
  );
  return withEngines.replace(/\{([a-z_]+)\}/g, (whole, name: string) => {
    const value = values[name];
    // ClickHouse's own macro for the table name, in the path of a replicated engine.
    if (name === 'table' && replicated) return whole;
    if (value === undefined) {
      throw new UsageError(`${file} has the unknown placeholder ${whole}; known: ${Object.keys(values).join(', ')}`);
    }
    return String(value);
  });
}

/** The path is explicit: without ON CLUSTER the default path, by table UUID, differs between nodes. */
function replicatedEngine(engine: string, args: string, { path, replica }: ReplicaPath): string {
  const own = `${quoteText(`${path}/{table}`)}, ${quoteText(replica)}`;
  return `Replicated${engine}(${own}${args.trim() ? `, ${args}` : ''})`;
}
