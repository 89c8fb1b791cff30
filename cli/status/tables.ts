import type { ClickHouseClient } from '@clickhouse/client';
import { shardDatabase } from '../../warehouse/index.js';

export interface TableSize {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  /** Replacing or aggregating: merges remove rows, so the count can decrease. */
  readonly merges: boolean;
}

/** Rows and bytes on disk of every table of the database that holds data. */
export async function tableSizes(client: ClickHouseClient, database: string): Promise<TableSize[]> {
  const answer = await client.query({
    query: `
      SELECT name, toFloat64(total_rows) AS rows, toFloat64(total_bytes) AS bytes,
        NOT match(engine, '^(Replicated|Shared)?MergeTree$') AS merges
      FROM system.tables
      WHERE database = {database:String} AND engine LIKE '%MergeTree'
      ORDER BY name`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  const sizes = await answer.json<Omit<TableSize, 'merges'> & { merges: number | boolean }>();
  return sizes.map((size) => ({ ...size, merges: Boolean(size.merges) }));
}

/**
 * The same for a cluster, summed over its shards. Tables that are on every shard count once.
 * @param client a connection to any node
 * @param shards one to each shard
 */
export async function clusterTableSizes(
  client: ClickHouseClient,
  shards: readonly ClickHouseClient[],
  database: string,
): Promise<TableSize[]> {
  const answer = await client.query({
    query: "SELECT name FROM system.tables WHERE database = {database:String} AND engine = 'Distributed'",
    query_params: { database },
    format: 'JSONEachRow',
  });
  const spread = new Set((await answer.json<{ name: string }>()).map(({ name }) => name));
  const byName = new Map<string, TableSize>();
  for (const sizes of await Promise.all(shards.map((shard) => tableSizes(shard, shardDatabase(database))))) {
    for (const size of sizes) {
      const { rows = 0, bytes = 0 } = byName.get(size.name) ?? {};
      const together = spread.has(size.name) ? rows + size.rows : Math.max(rows, size.rows);
      byName.set(size.name, { ...size, rows: together, bytes: bytes + size.bytes });
    }
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export interface Freshness {
  /** Age of the newest price tick, seconds; undefined when there is none. */
  readonly newestSeconds: number | undefined;
}

/** The age of the newest recorded price. */
export async function freshness(client: ClickHouseClient, database: string): Promise<Freshness> {
  const answer = await client.query({
    query: `
      SELECT dateDiff('microsecond', max(last_received_at), now64(6)) / 1e6 AS age, count() AS markets
      FROM {database:Identifier}.price_states`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  const [row] = await answer.json<{ age: number; markets: number | string }>();
  return { newestSeconds: row && Number(row.markets) > 0 ? Math.max(0, row.age) : undefined };
}
