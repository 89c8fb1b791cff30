import type { Bus } from '../../bus/index.js';

/** One partition of the bus, and the position of the transform workers in it. */
export interface PartitionLag {
  readonly topic: string;
  readonly partition: number;
  /** First retained offset. */
  readonly begin: number;
  /** Offset of the next record. */
  readonly end: number;
  /** Committed offset; null before the first commit. */
  readonly committed: number | null;
  /** Number of records that are not processed yet. */
  readonly lag: number;
}

/** The consumer lag of a group, by partition. */
export async function lagOf(bus: Bus, group: string): Promise<PartitionLag[]> {
  const [partitions, commits] = await Promise.all([bus.partitions(), bus.committed(group)]);
  const committedAt = new Map(commits.map((c) => [`${c.topic}/${c.partition}`, c.offset]));
  return partitions
    .map(({ topic, partition, begin, end }) => {
      const committed = committedAt.get(`${topic}/${partition}`) ?? null;
      return { topic, partition, begin, end, committed, lag: end - Math.max(begin, committed ?? 0) };
    })
    .sort((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition);
}
