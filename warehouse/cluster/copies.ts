import { type Logger, UsageError } from '../../core/index.js';
import { columnList, quoteName, quoteText } from '../connection.js';
import { ClickHouseStore } from '../exactly-once/clickhouse-store.js';
import type { TableDefinition } from '../table.js';
import type { ShardConnection } from './shard-connection.js';

/** Offsets copied by one statement, at most. */
const RANGE = 1_000_000;

export interface CopyOptions {
  readonly shards: readonly ShardConnection[];
  readonly tables: readonly TableDefinition[];
  readonly topic: string;
  readonly log: string;
  readonly partition: number;
  /** Rows of offsets from here on are still to be written, to every shard. */
  readonly before: number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The rows of a small table that one partition of one log became. */
interface Group {
  readonly table: string;
  readonly log: string;
  readonly partition: number;
  readonly rows: number;
  readonly last: number;
}

/**
 * Brings the rows of small tables that a partition's records became before now to the shards that lack them: those that
 * came later. Called by the partition's owner, with no batch under way, so nobody else writes these rows; what was
 * interrupted goes on where it was. The owner of partition 0 does the same for logs that the topic had before.
 */
export async function copyToEveryShard(options: CopyOptions): Promise<void> {
  const { shards, tables, topic, signal } = options;
  const own = tables.filter((table) => table.onEveryShardFor === topic);
  if (own.length === 0 || shards.length < 2) return;
  const there = await Promise.all(shards.map((shard) => groupsOf(shard, own, options)));
  const wanted = new Map(there.flat().map((group) => [keyOf(group), group]));
  for (const [number, shard] of shards.entries()) {
    const groups = new Map((there[number] ?? []).map((group) => [keyOf(group), group]));
    const finished = await finishedOf(shard, signal);
    for (const [key, group] of wanted) {
      const most = Math.max(...there.flat().map((other) => (keyOf(other) === key ? other.rows : 0)));
      const complete = groups.get(key)?.rows === most;
      if (complete && finished.has(key)) continue;
      const table = own.find((definition) => definition.name === group.table);
      if (!table) continue;
      if (!complete) await copy(shard, table, { ...group, rows: most }, options);
      if (table.feedsMaterializedViews) {
        const place = { topic, log: group.log, partition: group.partition, start: 0, end: group.last };
        await new ClickHouseStore(shard).feedViews(table, place, signal);
      }
      await finish(shard, group, signal);
    }
  }
}

/** What a shard has of the partition, by table and log. */
async function groupsOf(
  shard: ShardConnection,
  tables: readonly TableDefinition[],
  { log, partition, before, signal }: CopyOptions,
): Promise<Group[]> {
  const older = partition === 0 ? ` OR _log != ${quoteText(log)}` : '';
  const own = `(_log = ${quoteText(log)} AND _partition = ${partition} AND _offset < ${before})${older}`;
  const selects = tables.map(
    ({ name }) =>
      `SELECT ${quoteText(name)} AS table, toString(_log) AS log, _partition AS partition, count() AS rows, max(_offset) AS last
       FROM ${quoteName(shard.database)}.${quoteName(name)} WHERE ${own} GROUP BY log, partition`,
  );
  const upToDate = tables.map((table) => table.name);
  return shard.query<Group>(selects.join(' UNION ALL '), {}, signal, { upToDate });
}

/** The rows of a group that the shard lacks, from the shards that have them; the server fetches them itself. */
async function copy(shard: ShardConnection, table: TableDefinition, group: Group, options: CopyOptions): Promise<void> {
  const { signal, logger } = options;
  if (shard.cluster === undefined) throw new UsageError(`${shard.url} is not a shard of a cluster`);
  logger.info({ table: table.name, partition: group.partition, url: shard.url }, 'copying rows that a shard lacks');
  const database = quoteName(shard.database);
  const name = quoteName(table.name);
  for (let start = 0; start <= group.last; start += RANGE) {
    const within =
      `_log = ${quoteText(group.log)} AND _partition = ${group.partition} ` +
      `AND _offset BETWEEN ${start} AND ${start + RANGE - 1}`;
    await shard.command(
      `INSERT INTO ${database}.${name} (${columnList(table)})
       SELECT ${columnList(table)} FROM cluster(${quoteText(shard.cluster)}, ${database}, ${name})
       WHERE ${within} AND (_offset, _index) GLOBAL NOT IN (
         SELECT _offset, _index FROM ${database}.${name} WHERE ${within})
       LIMIT 1 BY _offset, _index`,
      {
        // The same statement never runs twice at a time: what another owner began is waited for.
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
