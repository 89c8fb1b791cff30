import { UsageError } from '../../core/index.js';
import { quoteName } from '../connection.js';
import type { ShardTable } from './shard-tables.js';

/**
 * Rewrites `table FINAL` so that it is correct over several shards. FINAL merges the rows of an ID within each shard, but
 * an ID may be on two shards after the number of shards or of a topic's partitions changed. The shards return their rows
 * sorted by ID, so selecting the latest row of each ID costs a merge of sorted streams.
 */
export function finalOverShards(
  sql: string,
  file: string,
  databases: { readonly database: string; readonly shard: string },
  tables: readonly ShardTable[],
): string {
  const { database, shard } = databases;
  const pattern = new RegExp(`\\b${database}\\.(\\w+)(?:\\s+AS\\s+(\\w+))?\\s+FINAL\\b`, 'g');
  return sql.replace(pattern, (whole, name: string, alias: string | undefined) => {
    const table = tables.find((other) => other.name === name);
    if (!table) return whole;
    if (table.onEveryShard) return `${shard}.${name} AS ${alias ?? name} FINAL`;
    if (!table.engine.includes('Replacing')) {
      throw new UsageError(
        `${file} reads ${name} with FINAL, which over several shards is correct for ReplacingMergeTree tables only; ` +
          'group by its key and merge the states instead',
      );
    }
    // The server shows names unquoted, also those that are keywords.
    const key = table.sortingKey.replace(/(?<![\w.`(])\w+(?![\w(`])/g, (word) => quoteName(word));
    const order = table.version === '' ? key : `${key}, ${quoteName(table.version)} DESC`;
    return `(SELECT * FROM ${database}.${name} FINAL ORDER BY ${order} LIMIT 1 BY ${key}) AS ${alias ?? name}`;
  });
}
