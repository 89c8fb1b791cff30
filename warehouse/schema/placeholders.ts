import { UsageError } from '../../core/index.js';
import { quoteText } from '../connection.js';

/** What the SQL files leave to the place where they are applied. */
export interface Placeholders {
  readonly database: string;
  /** Whether inserts are flushed to disk before they are acknowledged. */
  readonly fsync: boolean;
  /** Where the tables of this node are replicated, on a cluster with replicas. */
  readonly replicated?: ReplicaPath;
  /** Further `{name}`s and the text that takes their place. */
  readonly values?: Readonly<Record<string, string | number>>;
}

/** A node's place in the coordination service. */
export interface ReplicaPath {
  /** Below it, every table of the shard has its folder; the same on all replicas of the shard, and on no other node. */
  readonly path: string;
  /** Name of this replica. */
  readonly replica: string;
}

/**
 * How many parts back a token is remembered. It must existing what other workers insert into the table while one that was
 * paused may still send: at 300 parts a second, the 30 seconds after which its idle connection is closed.
 */
const DEDUPLICATION_WINDOW = 10_000;
/** Replicated tables forget tokens by age too, seconds; a batch may be finished as long as the bus keeps it. */
const DEDUPLICATION_SECONDS = 30 * 86_400;
const ENGINE = /\{engine:\s*(\w+)\s*(?:\(((?:[^(){}]|\([^()]*\))*)\))?\s*\}/g;

/**
 * Fills the placeholders of a SQL file:
 * - `{database}`: the database's name;
 * - `{engine:MergeTree}`, `{engine:ReplacingMergeTree(version)}`: the engine, Replicated where replicas are configured;
 * - `{log_settings}`: settings of tables that the exactly-once writer fills (SETTINGS {log_settings});
 * - `{view_settings}`: settings of tables that materialized views fill.
 *
 * ClickHouse's own query parameters, `{name:Type}`, stay as they are.
 * @throws UsageError for a placeholder that nobody knows
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
    log_settings: `${window(DEDUPLICATION_WINDOW)}, ${durable}`,
    // A resend runs materialized views again; deduplication in their targets would drop what the first run had lost.
    view_settings: `${window(0)}, ${durable}`,
  };
  const withEngines = sql.replace(ENGINE, (_whole, engine: string, args: string | undefined) =>
    replicated ? replicatedEngine(engine, args ?? '', replicated) : `${engine}${args ? `(${args})` : ''}`,
  );
  return withEngines.replace(/\{([a-z_]+)\}/g, (whole, name: string) => {
    const value = values[name];
    // ClickHouse's own name for the table that is made, in the path of a replicated engine.
    if (name === 'table' && replicated) return whole;
    if (value === undefined) {
      throw new UsageError(`${file} has the unknown placeholder ${whole}; known: ${Object.keys(values).join(', ')}`);
    }
    return String(value);
  });
}

/** The path is spelled out: the default path (by table UUID) would differ from node to node without ON CLUSTER. */
function replicatedEngine(engine: string, args: string, { path, replica }: ReplicaPath): string {
  const own = `${quoteText(`${path}/{table}`)}, ${quoteText(replica)}`;
  return `Replicated${engine}(${own}${args.trim() ? `, ${args}` : ''})`;
}
