import { type Logger, UsageError } from '../../core/index.js';
import { columnList, quoteName, quoteText } from '../connection.js';
import { ClickHouseStore } from '../exactly-once/clickhouse-store.js';
import type { TableDefinition } from '../table.js';
import type { ShardConnection } from './shard-connection.js';

/** Upper bound of the offsets copied by one statement. */
const MAX_OFFSETS = 1_000_000;

export interface CopyOptions {
  readonly shards: readonly ShardConnection[];
  readonly tables: readonly TableDefinition[];
  readonly topic: string;
  readonly log: string;
  readonly partition: number;
  /** Rows of offsets from here on will be written to every shard by the worker. */
  readonly before: number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The rows of a small table from one partition of one log. */
interface Group {
  readonly table: string;
  readonly log: string;
  readonly partition: number;
  readonly rows: number;
  readonly last: number;
}

/**
 * Copies the rows of small tables from a partition's records to shards that do not have them because they were added later.
 * Called by the partition's owner without a batch in progress, so no other process writes these rows; an interrupted copy
 * is resumed by the next call. The owner of partition 0 does the same for former logs of the topic.
 */
export async function copyToEveryShard(options: CopyOptions): Promise<void> {
  const { shards, tables, topic, signal } = options;
  const own = tables.filter((table) => table.onEveryShardFor === topic);
  if (own.length === 0 || shards.length < 2) return;
  const stored = await Promise.all(shards.map((shard) => groupsOf(shard, own, options)));
  const wanted = new Map(stored.flat().map((group) => [keyOf(group), group]));
  for (const [number, shard] of shards.entries()) {
    const groups = new Map((stored[number] ?? []).map((group) => [keyOf(group), group]));
    const finished = await finishedOf(shard, signal);
    for (const [key, group] of wanted) {
      const total = Math.max(...stored.flat().map((other) => (keyOf(other) === key ? other.rows : 0)));
      const complete = groups.get(key)?.rows === total;
      if (complete && finished.has(key)) continue;
      const table = own.find((definition) => definition.name === group.table);
      if (!table) continue;
      if (!complete) await copy(shard, table, { ...group, rows: total }, options);
      if (table.feedsMaterializedViews) {
        const range = { topic, log: group.log, partition: group.partition, start: 0, end: group.last };
        await new ClickHouseStore(shard).feedViews(table, range, signal);
      }
      await finish(shard, group, signal);
    }
  }
}

/** The rows of the partition on a shard, by table and log. */
async function groupsOf(
  shard: ShardConnection,
  tables: readonly TableDefinition[],
  { log, partition, before, signal }: CopyOptions,
): Promise<Group[]> {
  const older = partition === 0 ? ` OR _log != ${quoteText(log)}` : '';
  const own = `(_log = ${quoteText(log)} AND _partition = ${partition} AND _offset < ${before})${older}`;
  // Shards have replaced different rows of a replacing table.
  const selects = tables.map(
    ({ name, kind }) =>
      `SELECT ${quoteText(name)} AS table, toString(_log) AS log, _partition AS partition, count() AS rows, max(_offset) AS last
       FROM ${quoteName(shard.database)}.${quoteName(name)}${kind === 'replacing' ? ' FINAL' : ''} WHERE ${own} GROUP BY log, partition`,
  );
  const upToDate = tables.map((table) => table.name);
  return shard.query<Group>(selects.join(' UNION ALL '), {}, signal, { upToDate });
}

/** Copies the missing rows of a group to the shard; the server reads them from the other shards. */
async function copy(shard: ShardConnection, table: TableDefinition, group: Group, options: CopyOptions): Promise<void> {
  const { signal, logger } = options;
  if (shard.cluster === undefined) throw new UsageError(`${shard.url} is not a shard of a cluster`);
  logger.info(
    { table: table.name, partition: group.partition, url: shard.url },
    'copying rows to a shard that does not have them',
  );
  const database = quoteName(shard.database);
  const name = quoteName(table.name);
  for (let start = 0; start <= group.last; start += MAX_OFFSETS) {
    const within =
      `_log = ${quoteText(group.log)} AND _partition = ${group.partition} ` +
      `AND _offset BETWEEN ${start} AND ${start + MAX_OFFSETS - 1}`;
    await shard.command(
      `INSERT INTO ${database}.${name} (${columnList(table)})
       SELECT ${columnList(table)} FROM cluster(${quoteText(shard.cluster)}, ${database}, ${name})
       WHERE ${within} AND (_offset, _index) GLOBAL NOT IN (
         SELECT _offset, _index FROM ${database}.${name} WHERE ${within})
       LIMIT 1 BY _offset, _index`,
      {
        // ClickHouse rejects a second query with this ID while a former owner's statement runs; this one is then retried.
        queryId: `copy/${keyOf(group)}/${start}`,
        settings: { async_insert: 0, deduplicate_insert: 'disable', deduplicate_insert_select: 'disable' },
        upToDate: [table.name],
        signal,
      },
    );
  }
}

async function finishedOf(shard: ShardConnection, signal: AbortSignal): Promise<Set<string>> {
  const rows = await shard.query<{ table: string; log: string; partition: number }>(
    `SELECT DISTINCT table, log, partition FROM ${quoteName(shard.database)}.copied_partitions`,
    {},
    signal,
  );
  return new Set(rows.map(keyOf));
}

async function finish(shard: ShardConnection, { table, log, partition }: Group, signal: AbortSignal): Promise<void> {
  await shard.command(
    `INSERT INTO ${quoteName(shard.database)}.copied_partitions
     SELECT {table:String}, {log:String}, {partition:UInt32}, now64(6)`,
    { params: { table, log, partition }, settings: { async_insert: 0 }, signal },
  );
}

const keyOf = ({ table, log, partition }: Pick<Group, 'table' | 'log' | 'partition'>): string =>
  `${table}/${log}/${partition}`;
