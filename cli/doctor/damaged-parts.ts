import type { ShardConnection } from '../../warehouse/index.js';

/**
 * Parts that ClickHouse moved aside because their files are damaged, as table and name: it starts without
 * them. Rows of a part that was merged from others may still be in these.
 */
export async function findDamagedParts(shards: readonly ShardConnection[], signal?: AbortSignal): Promise<string[]> {
  const sql = `
    SELECT concat(table, ' ', name) AS part
    FROM system.detached_parts
    WHERE database = {database: String} AND startsWith(reason, 'broken')
    ORDER BY part`;
  const parts: string[] = [];
  for (const shard of shards) {
    const rows = await shard.queryEvery<{ part: string }>(sql, { database: shard.database }, signal);
    parts.push(...rows.map(({ part }) => part));
  }
  return parts;
}
