import { UsageError } from '../../core/index.js';

/** What the SQL files leave to the place where they are applied. */
export interface Placeholders {
  readonly database: string;
  /** Whether inserts are flushed to disk before they are acknowledged. */
  readonly fsync: boolean;
  /** Whether the tables are Replicated (a cluster with replicas and a keeper). */
  readonly replicated?: boolean;
  /** Further `{name}`s and the text that takes their place. */
  readonly values?: Readonly<Record<string, string | number>>;
}

/**
 * How many parts back a token is remembered. It must cover what other workers insert into the table while one that was
 * paused may still send: at 300 parts a second, the 30 seconds after which its idle connection is closed.
 */
const DEDUPLICATION_WINDOW = 10_000;
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
  const window = (size: number) =>
    options.replicated ? `replicated_deduplication_window = ${size}` : `non_replicated_deduplication_window = ${size}`;
  const values: Record<string, string | number> = {
    ...options.values,
    database: options.database,
    log_settings: `${window(DEDUPLICATION_WINDOW)}, ${durable}`,
    // A resend runs materialized views again; deduplication in their targets would drop what the first run had lost.
    view_settings: `${window(0)}, ${durable}`,
  };
  const withEngines = sql.replace(ENGINE, (_whole, engine: string, args: string | undefined) =>
    options.replicated ? replicatedEngine(engine, args ?? '') : `${engine}${args ? `(${args})` : ''}`,
  );
  return withEngines.replace(/\{([a-z_]+)\}/g, (whole, name: string) => {
    const value = values[name];
    // Macros of the server, which only replicated engines hold.
    if (value === undefined && ['shard', 'replica', 'table'].includes(name) && options.replicated) return whole;
    if (value === undefined) {
      throw new UsageError(`${file} has the unknown placeholder ${whole}; known: ${Object.keys(values).join(', ')}`);
    }
    return String(value);
  });
}

/** The path is spelled out: without ON CLUSTER, the default path (by table UUID) would differ from node to node. */
function replicatedEngine(engine: string, args: string): string {
  const own = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'";
  return `Replicated${engine}(${own}${args.trim() ? `, ${args}` : ''})`;
}
