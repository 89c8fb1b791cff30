import { IntegrityError } from '../../core/index.js';
import { type Connection, quoteName } from '../connection.js';
import { StatementError } from '../errors.js';
import type { ShardConnection } from './shard-connection.js';

/** What a node knows about the cluster. */
export interface Layouts {
  /** Which shard the node holds, from 0; undefined before the first migration. */
  readonly shard: number | undefined;
  /** Every number of shards that the cluster ever had: a partition's rows are on the shard it had under one of them. */
  readonly shards: readonly number[];
}

const NOT_THERE: ReadonlySet<number> = new Set([60, 81]);

/** The table `cluster_layouts` of a node; empty where there is none. */
export async function readLayouts(node: ShardConnection, signal?: AbortSignal): Promise<Layouts> {
  try {
    const rows = await node.query<{ shard: number; shards: number }>(
      `SELECT shard, shards FROM ${quoteName(node.database)}.cluster_layouts GROUP BY shard, shards ORDER BY shards`,
      {},
      signal,
    );
    return { shard: rows[0]?.shard, shards: [...new Set(rows.map((row) => row.shards))] };
  } catch (error) {
    if (error instanceof StatementError && NOT_THERE.has(error.code)) return { shard: undefined, shards: [] };
    throw error;
  }
}

/** Writes down which shard the node holds, and the numbers of shards that it does not know of yet; makes the tables. */
export async function recordLayouts(node: Connection, shard: number, shards: readonly number[]): Promise<void> {
  const table = `${quoteName(node.database)}.cluster_layouts`;
  await node.command(`
    CREATE TABLE IF NOT EXISTS ${table} (
      shard UInt32 COMMENT 'Number of the shard that this node holds, from 0',
      shards UInt32 COMMENT 'How many shards the cluster had',
      since DateTime64(6, 'UTC') COMMENT 'When this node was first told so'
    ) ENGINE = MergeTree ORDER BY shards SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
    COMMENT 'Which shard of the cluster this node holds, and how many shards there ever were'`);
  await node.command(`
    CREATE TABLE IF NOT EXISTS ${quoteName(node.database)}.copied_partitions (
      table String COMMENT 'Small table, which every shard has',
      log String COMMENT 'Identity of the log',
      partition UInt32 COMMENT 'Partition of the log',
      at DateTime64(6, 'UTC') COMMENT 'When this node was found to have its rows, or got them from other shards'
    ) ENGINE = ReplacingMergeTree(at) ORDER BY (table, log, partition) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
    COMMENT 'Of which partitions the small tables of this node are complete, and their materialized views have seen them'`);
  const known = new Set((await readLayouts(node)).shards);
  for (const count of new Set(shards)) {
    if (known.has(count)) continue;
    await node.command(`INSERT INTO ${table} SELECT {shard:UInt32}, {count:UInt32}, now64(6)`, {
      params: { shard, count },
      settings: { async_insert: 0 },
    });
  }
}

/**
 * Numbers of the shards that may hold rows of a partition: its shard now, and those it had when there were fewer or
 * more of them. Only these need to answer when a partition is taken over.
 */
export async function homesOf(
  partition: number,
  shards: readonly ShardConnection[],
  signal: AbortSignal,
): Promise<number[]> {
  const now = partition % shards.length;
  const home = shards[now];
  if (!home || shards.length === 1) return [now];
  const layouts = await readLayouts(home, signal);
  const homes = [...new Set([now, ...layouts.shards.map((count) => partition % count)])];
  const gone = homes.find((number) => number >= shards.length);
  if (gone === undefined) return homes;
  throw new IntegrityError(
    `rows of partition ${partition} are on ClickHouse shard ${gone + 1}, but ${shards.length} are configured; name all of them`,
  );
}
