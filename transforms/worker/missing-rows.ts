import type { Bus } from '../../bus/index.js';
import { type ShardConnection, shardsHolding } from '../../warehouse/index.js';
import { whyRowsAreMissing } from './database-check.js';

interface MissingRows {
  readonly topic: string;
  readonly partition: number;
  /** Rows of records before this offset are missing. */
  readonly before: number;
  readonly cause: string;
}

/** The partitions whose rows are stored according to a group's committed offsets, although ClickHouse lacks some. Changes nothing. */
export async function findMissingRows(
  bus: Bus,
  group: string,
  shards: readonly ShardConnection[],
  signal: AbortSignal,
): Promise<MissingRows[]> {
  const [partitions, commits] = await Promise.all([bus.partitions(), bus.committed(group)]);
  const missing: MissingRows[] = [];
  for (const { topic, partition, log, begin } of partitions) {
    const committed = commits.find((commit) => commit.topic === topic && commit.partition === partition);
    if (!committed) continue;
    const numbers = await shardsHolding(partition, shards, signal);
    const holders = new Map([...shards.entries()].filter(([number]) => numbers.includes(number)));
    const cause = await whyRowsAreMissing({ topic, partition, log, begin, committed }, holders, signal);
    if (cause !== undefined) missing.push({ topic, partition, before: committed.offset, cause });
  }
  return missing;
}
