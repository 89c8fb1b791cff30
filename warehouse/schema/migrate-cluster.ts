import { UsageError } from '../../core/index.js';
import type { Cluster, ClusterNode } from '../cluster/cluster.js';
import { assertShard } from '../cluster/cluster-shard.js';
import { readLayouts, recordLayouts } from '../cluster/layouts.js';
import type { TableDefinition } from '../table.js';
import { AppliedSql } from './applied-sql.js';
import { createDistributedTables } from './distributed-tables.js';
import { finalOverShards } from './final.js';
import { type MigrateOptions, type MigrateResult, sqlFolder } from './migrate.js';
import { withMigrationLock } from './migration-lock.js';
import { readShardTables, type ShardTable } from './shard-tables.js';
import { readMigrations, readViews } from './sql-files.js';
import { SqlRun } from './sql-run.js';
import { alignTableSettings } from './table-settings.js';

export interface MigrateClusterOptions extends MigrateOptions {
  /** The code's table definitions, which specify the tables that are on every shard. */
  readonly tables: readonly TableDefinition[];
}

export interface NodeResult extends MigrateResult {
  readonly url: string;
  /** Names of the distributed tables that were created, replaced or dropped. */
  readonly distributedTables: readonly string[];
}

/**
 * Brings every node of a cluster up to date, one at a time: the migrations create the tables in the shard's database; when
 * every node has its tables, distributed tables and views are created in the other database.
 * @throws UsageError as `migrate` does, and when a node does not match the configuration; ConnectionError when one does
 * not respond
 */
export async function migrateCluster(
  cluster: Cluster,
  options: MigrateClusterOptions,
  signal: AbortSignal,
): Promise<NodeResult[]> {
  const counts = new Set([cluster.shards.length]);
  for (const node of cluster.nodes) {
    for (const count of await assertNode(cluster, node, signal)) counts.add(count);
  }
  const runs = cluster.nodes.map((node) => new NodeRun(cluster, node, options, signal));
  const applied: string[][] = [];
  for (const run of runs) applied.push(await run.migrateShard());
  const results: NodeResult[] = [];
  for (const [i, run] of runs.entries()) results.push(await run.createDistributed(applied[i] ?? [], [...counts]));
  return results;
}

/**
 * Verifies that a node matches the configuration, and returns the numbers of shards that it has recorded.
 * @throws UsageError
 */
export async function assertNode(
  cluster: Cluster,
  { connection, shard }: ClusterNode,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const layouts = await readLayouts(connection, signal);
  if (layouts.shard !== undefined) assertShard(connection, layouts.shard, shard);
  const recorded = Math.max(0, ...layouts.shardCounts);
  if (recorded > cluster.shards.length) {
    throw new UsageError(
      `${connection.url} has recorded ${recorded} shards, but ${cluster.shards.length} are configured; name all of them: the ` +
        'rows of a shard are not moved to others',
    );
  }
  const rows = await connection.query<{ replicas: number }>(
    'SELECT count() AS replicas FROM system.clusters WHERE cluster = {name:String} GROUP BY shard_num ORDER BY shard_num',
    { name: cluster.name },
    signal,
  );
  const actual = rows.map((row) => row.replicas).join(' + ') || 'no';
  const configured = cluster.shards
    .map((_, number) => cluster.nodes.filter((node) => node.shard === number).length)
    .join(' + ');
  if (actual !== configured) {
    throw new UsageError(
      `${connection.url} has the cluster ${cluster.name} with ${actual} nodes per shard in remote_servers, but ` +
        `${configured} are configured in Chancery; correct one of the two (docs/cluster.md)`,
    );
  }
  return layouts.shardCounts;
}

/** Migrates one node. */
class NodeRun {
  readonly #appliedSql: AppliedSql;
  readonly #run: SqlRun;
  readonly #everyShard: ReadonlySet<string>;
  #shardTables: readonly ShardTable[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly node: ClusterNode,
    private readonly options: MigrateClusterOptions,
    private readonly signal: AbortSignal,
  ) {
    const { connection, shard, replica } = node;
    const { name, database, replicated } = cluster;
    const path = `/chancery/${name}/${connection.database}/shard-${shard + 1}`;
    const placeholders = {
      ...options,
      database: connection.database,
      ...(replicated ? { replicated: { path, replica } } : {}),
    };
    const rewrite = (sql: string, file: string) =>
      finalOverShards(sql, file, { database, shard: connection.database }, this.#shardTables);
    this.#appliedSql = new AppliedSql(connection);
    this.#run = new SqlRun({
      connection,
      appliedSql: this.#appliedSql,
      placeholders,
      views: { database, rewrite },
      signal,
    });
    this.#everyShard = new Set(
      options.tables.filter((table) => table.onEveryShardFor !== undefined).map((table) => table.name),
    );
  }

  /** Creates the tables of the shard; returns the migrations that were applied. */
  async migrateShard(): Promise<string[]> {
    const { connection } = this.node;
    const { logger, clock, folder = sqlFolder(), fsync } = this.options;
    const migrations = readMigrations(folder);
    let applied: string[] = [];
    if (!(await this.#run.isMigrated(migrations))) {
      await this.#appliedSql.create();
      const work = () => this.#run.applyMigrations(migrations);
      applied = await withMigrationLock(connection, work, this.signal, clock);
    }
    for (const migration of applied) logger?.info({ migration, node: connection.url }, 'migration applied');
    await alignTableSettings(connection, fsync);
    return applied;
  }

  /** Creates the distributed tables and the views, which users query. */
  async createDistributed(migrations: readonly string[], counts: readonly number[]): Promise<NodeResult> {
    const { cluster, node, options, signal } = this;
    const { connection } = node;
    const views = readViews(options.folder ?? sqlFolder());
    await connection.command(`CREATE DATABASE IF NOT EXISTS ${cluster.database}`);
    const work = async () => {
      this.#shardTables = await readShardTables(connection, this.#everyShard);
      const distributedTables = await createDistributedTables(connection, this.#shardTables, {
        database: cluster.database,
        cluster: cluster.name,
      });
      const made = await this.#run.applyViews(views, migrations.length > 0 || distributedTables.length > 0);
      const dropped = await this.#run.dropViewsWithoutFile(views);
      await recordLayouts(connection, node.shard, counts);
      return { url: connection.url, migrations, distributedTables, views: made, dropped };
    };
    return withMigrationLock(connection, work, signal, options.clock);
  }
}
