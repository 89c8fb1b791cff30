import { IntegrityError } from '../../core/index.js';
import { type Connection, quoteName } from '../connection.js';
import { StatementError, UNKNOWN_DATABASE, UNKNOWN_TABLE } from '../errors.js';
import type { ShardConnection } from './shard-connection.js';

/** What a node has recorded about the cluster. */
interface Layouts {
  /** The shard that the node holds, from 0; undefined before the first migration. */
  readonly shard: number | undefined;
  /** Every number of shards that the cluster ever had: each may have put a partition's rows on another shard. */
  readonly shardCounts: readonly number[];
}

const NOT_MIGRATED: ReadonlySet<number> = new Set([UNKNOWN_TABLE, UNKNOWN_DATABASE]);

/** The content of a node's table `cluster_layouts`; empty without the table. */
export async function readLayouts(node: ShardConnection, signal?: AbortSignal): Promise<Layouts> {
  try {
    const rows = await node.query<{ shard: number; shard_count: number }>(
      `SELECT DISTINCT shard, shard_count FROM ${quoteName(node.database)}.cluster_layouts ORDER BY shard_count`,
      {},
      signal,
    );
    return { shard: rows[0]?.shard, shardCounts: [...new Set(rows.map((row) => row.shard_count))] };
  } catch (error) {
    if (error instanceof StatementError && NOT_MIGRATED.has(error.code)) return { shard: undefined, shardCounts: [] };
    throw error;
  }
}

/** Records which shard the node holds, and the numbers of shards that it has not recorded yet; creates the tables. */
export async function recordLayouts(node: Connection, shard: number, shardCounts: readonly number[]): Promise<void> {
  const table = `${quoteName(node.database)}.cluster_layouts`;
  await node.command(`
    CREATE TABLE IF NOT EXISTS ${table} (
      shard UInt32 COMMENT 'Number of the shard that this node holds, from 0',
      shard_count UInt32 COMMENT 'Number of shards of the cluster',
      recorded_at DateTime64(6, 'UTC') COMMENT 'When this number of shards was first configured on this node'
    ) ENGINE = MergeTree ORDER BY shard_count SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
    COMMENT 'Which shard of the cluster this node holds, and every number of shards that the cluster had'`);
  await node.command(`
    CREATE TABLE IF NOT EXISTS ${quoteName(node.database)}.copied_partitions (
      table String COMMENT 'Small table, which is on every shard',
      log String COMMENT 'Topic ID',
      partition UInt32 COMMENT 'Partition of the log',
      completed_at DateTime64(6, 'UTC') COMMENT 'When the rows on this node were complete, or were copied from other shards'
    ) ENGINE = ReplacingMergeTree(completed_at) ORDER BY (table, log, partition)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
    COMMENT 'Partitions whose rows in small tables are complete on this node, materialized views included'`);
  const known = new Set((await readLayouts(node)).shardCounts);
  for (const count of new Set(shardCounts)) {
    if (known.has(count)) continue;
    await node.command(`INSERT INTO ${table} SELECT {shard:UInt32}, {count:UInt32}, now64(6)`, {
      params: { shard, count },
      settings: { async_insert: 0 },
    });
  }
}

/**
 * Numbers of the shards that may hold rows of a partition: its current shard, and those under earlier numbers of shards.
 * Only these must respond when a partition is taken over.
 */
export async function shardsHolding(
  partition: number,
  shards: readonly ShardConnection[],
  signal: AbortSignal,
): Promise<number[]> {
  const now = partition % shards.length;
  const current = shards[now];
  if (!current || shards.length === 1) return [now];
  const layouts = await readLayouts(current, signal);
  const holding = [...new Set([now, ...layouts.shardCounts.map((count) => partition % count)])];
  const missing = holding.find((number) => number >= shards.length);
  if (missing === undefined) return holding;
  throw new IntegrityError(
    `rows of partition ${partition} are on ClickHouse shard ${missing + 1}, but ${shards.length} are configured; name all of them`,
  );
}
