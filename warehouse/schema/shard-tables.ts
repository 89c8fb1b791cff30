import { UsageError } from '../../core/index.js';
import type { Connection } from '../connection.js';

/** A table of a node's shard database. */
export interface ShardTable {
  readonly name: string;
  readonly engine: string;
  /** Column list of the sorting key. */
  readonly sortingKey: string;
  /** Column of the version of a replacing table; empty without one. */
  readonly version: string;
  readonly comment: string;
  readonly columns: readonly TableColumn[];
  /** Whether every shard has all of its rows. */
  readonly onEveryShard: boolean;
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly kind: string;
  readonly expression: string;
  readonly comment: string;
}

interface LiveTable {
  readonly name: string;
  readonly engine: string;
  readonly engine_full: string;
  readonly sorting_key: string;
  readonly comment: string;
  readonly create_table_query: string;
  readonly dependencies_table: readonly string[];
}

/** Chancery's tables about the node itself, which are not queried across nodes. */
const NODE_TABLES: ReadonlySet<string> = new Set([
  'applied_sql',
  'cluster_layouts',
  'copied_partitions',
  'database_identity',
  'migration_lock',
]);

/**
 * The tables with rows. Target tables of materialized views that read a table on every shard are on every shard too.
 * @param onEveryShard names of the small tables, from the code's definitions
 */
export async function readShardTables(node: Connection, onEveryShard: ReadonlySet<string>): Promise<ShardTable[]> {
  const params = { database: node.database };
  const live = await node.query<LiveTable>(
    `SELECT name, engine, engine_full, sorting_key, comment, create_table_query, dependencies_table
     FROM system.tables WHERE database = {database:String} ORDER BY name`,
    params,
  );
  const columns = await readColumns(node, node.database);
  const targets = live
    .filter((table) => onEveryShard.has(table.name))
    .flatMap((table) => table.dependencies_table)
    .map((view) => targetOf(live.find((table) => table.name === view)));
  return live
    .filter(({ name, engine }) => engine.endsWith('MergeTree') && !NODE_TABLES.has(name))
    .map((table) => ({
      name: table.name,
      engine: table.engine,
      sortingKey: table.sorting_key,
      version: versionOf(table),
      comment: table.comment,
      columns: columns.get(table.name) ?? [],
      onEveryShard: onEveryShard.has(table.name) || targets.includes(table.name),
    }));
}

/** Columns of a database by table, by position. */
export async function readColumns(node: Connection, database: string): Promise<Map<string, TableColumn[]>> {
  const rows = await node.query<TableColumn & { table: string }>(
    `SELECT table, name, type, default_kind AS kind, default_expression AS expression, comment
     FROM system.columns WHERE database = {database:String} ORDER BY table, position`,
    { database },
  );
  const byTable = new Map<string, TableColumn[]>();
  for (const { table, ...column } of rows) byTable.set(table, [...(byTable.get(table) ?? []), column]);
  return byTable;
}

/** The table that a materialized view fills. */
function targetOf(view: LiveTable | undefined): string {
  const target = /^CREATE MATERIALIZED VIEW \S+ TO [`\w]+\.`?(\w+)`?/.exec(view?.create_table_query ?? '')?.[1];
  if (target !== undefined) return target;
  throw new UsageError(`the materialized view ${view?.name ?? ''} must be created with TO {database}.<table>`);
}

/** The engine's last argument, after path and replica name of a replicated engine. */
function versionOf({ engine, engine_full }: LiveTable): string {
  if (!engine.includes('Replacing')) return '';
  const args = /^\w+\(([^()]*)\)/.exec(engine_full)?.[1] ?? '';
  const last = args.split(',').at(-1)?.trim() ?? '';
  return last.startsWith("'") ? '' : last;
}
