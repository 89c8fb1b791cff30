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
  /** The tables as code knows them: which of them every shard has. */
  readonly tables: readonly TableDefinition[];
}

export interface NodeResult extends MigrateResult {
  readonly url: string;
  /** Names of the tables over all shards that were made, replaced or taken away. */
  readonly distributedTables: readonly string[];
}

/**
 * Brings every node of a cluster up to date, one after the other: the same files as on a single server make the tables
 * in the shard's database; tables over all shards and the views come on top when every node has its tables.
 * @throws UsageError as `migrate` does, and when a node is not what the configuration says; ConnectionError when one
 * does not answer
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
  for (const run of runs) applied.push(await run.tables());
  const results: NodeResult[] = [];
  for (const [i, run] of runs.entries()) results.push(await run.tops(applied[i] ?? [], [...counts]));
  return results;
}

/**
 * Makes sure that a node is the one that the configuration says, and answers the numbers of shards that it knows of.
 * @throws UsageError
 */
export async function assertNode(
  cluster: Cluster,
  { connection, shard }: ClusterNode,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const layouts = await readLayouts(connection, signal);
  if (layouts.shard !== undefined) assertShard(connection, layouts.shard, shard);
  const most = Math.max(0, ...layouts.shardCounts);
  if (most > cluster.shards.length) {
    throw new UsageError(
      `${connection.url} knows of ${most} shards, ${cluster.shards.length} are configured; name all of them: what a ` +
        'shard holds is not moved to others',
    );
  }
  const rows = await connection.query<{ replicas: number }>(
    'SELECT count() AS replicas FROM system.clusters WHERE cluster = {name:String} GROUP BY shard_num ORDER BY shard_num',
    { name: cluster.name },
    signal,
  );
  const there = rows.map((row) => row.replicas).join(' + ') || 'no';
  const wanted = cluster.shards
    .map((_, number) => cluster.nodes.filter((node) => node.shard === number).length)
    .join(' + ');
  if (there !== wanted) {
    throw new UsageError(
      `${connection.url} has the cluster ${cluster.name} with ${there} nodes in remote_servers, configured are ` +
        `${wanted} (shards, each with its replicas); make its configuration fit (docs/cluster.md)`,
    );
  }
  return layouts.shardCounts;
}

/** One node's share of the work. */
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

  /** Makes the tables of the shard; answers the migrations that were applied. */
  async tables(): Promise<string[]> {
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

  /** Makes what people ask: tables over all shards, and views. */
  async tops(migrations: readonly string[], counts: readonly number[]): Promise<NodeResult> {
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
