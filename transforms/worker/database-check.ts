import type { Committed } from '../../bus/index.js';
import { type Checkpoint, databaseIdentities, decodeCheckpoint, type ShardConnection } from '../../warehouse/index.js';
import { RECORD_TABLES } from '../tables/index.js';
import type { SourcePartition } from '../tables/row-table.js';

/** The shards that may have rows of a partition, by number. */
export type Holders = ReadonlyMap<number, ShardConnection>;

interface CommittedPartition extends SourcePartition {
  readonly committed: Committed;
  /** First offset that the bus still has. */
  readonly begin: number;
}

export const checkpointOf = ({ topic, partition, committed }: CommittedPartition): Checkpoint | undefined =>
  committed.checkpoint === undefined ? undefined : decodeCheckpoint(committed.checkpoint, `${topic}/${partition}`);

/**
 * Compares ClickHouse with the checkpoint of a committed offset: the databases must be those that were written to, and
 * must have the last batch. Returns why rows of earlier records are missing; undefined when they are there. An offset
 * without a checkpoint (set by a tool) needs a row of the record before it, unless the bus begins there.
 */
export async function whyRowsAreMissing(
  source: CommittedPartition,
  holders: Holders,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { committed, begin } = source;
  const checkpoint = checkpointOf(source);
  if (!checkpoint) {
    if (committed.offset <= begin) return undefined;
    const previous = committed.offset - 1;
    const rows = await countRows(source, [...holders.values()], previous, previous, signal);
    return rows > 0 ? undefined : `${describe([...holders.values()])} has no row of offset ${previous}`;
  }
  for (const [number, shard] of holders) {
    const expected = checkpoint.databases[number];
    if (expected === undefined || (await databaseIdentities(shard, signal)).includes(expected)) continue;
    return `${describe([shard])} is not the one that they were written to: that was deleted or replaced`;
  }
  const { last } = checkpoint;
  const shard = last && holders.get(last.shard);
  if (!shard || (await countRows(source, [shard], last.start, last.end, signal)) >= last.rows) return undefined;
  return `${describe([shard])} lacks rows of offsets ${last.start} to ${last.end}: it was restored from an older backup`;
}

const describe = (shards: readonly ShardConnection[]): string =>
  shards.map(({ database, url }) => `database ${database} at ${url}`).join(' or ');

/** Rows of an offset range in the tables in which every record has one, unless it is a repeated copy. */
async function countRows(
  source: SourcePartition,
  shards: readonly ShardConnection[],
  start: number,
  end: number,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  for (const shard of shards) {
    const [found] = await selectRecords<{ readonly rows: number }>(
      shard,
      'count() AS rows',
      source,
      { start, end },
      signal,
    );
    total += found?.rows ?? 0;
  }
  return total;
}

/** The newest offset before `before` that has a row; undefined without one. */
export async function newestOffset(
  source: SourcePartition,
  holders: Holders,
  before: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  let newest: number | undefined;
  for (const shard of holders.values()) {
    const [found] = await selectRecords<{ readonly last: number | null }>(
      shard,
      'maxOrNull(_offset) AS last',
      source,
      { start: 0, end: before - 1 },
      signal,
    );
    if (found?.last !== null && found !== undefined) newest = Math.max(newest ?? 0, found.last);
  }
  return newest;
}

function selectRecords<Row>(
  shard: ShardConnection,
  select: string,
  { topic, log, partition }: SourcePartition,
  { start, end }: { readonly start: number; readonly end: number },
  signal: AbortSignal,
): Promise<Row[]> {
  if (end < start) return Promise.resolve([]);
  const within =
    '_topic = {topic:String} AND _log = {log:String} AND _partition = {partition:UInt32} ' +
    'AND _offset BETWEEN {start:UInt64} AND {end:UInt64}';
  const selects = RECORD_TABLES.map(({ name }) => `SELECT _offset FROM ${shard.database}.${name} WHERE ${within}`);
  return shard.query<Row>(
    `SELECT ${select} FROM (${selects.join(' UNION ALL ')})`,
    { topic, log, partition, start, end },
    signal,
    { upToDate: RECORD_TABLES.map(({ name }) => name) },
  );
}
