import type { Bus } from '../../bus/index.js';

/** One partition of the bus and how far the transform workers are in it. */
export interface PartitionLag {
  readonly topic: string;
  readonly partition: number;
  /** First kept offset. */
  readonly begin: number;
  /** Offset that the next record will get. */
  readonly end: number;
  /** Offset that the workers process next; null before their first commit. */
  readonly committed: number | null;
  /** Records that wait. */
  readonly lag: number;
}

/** How many records of each partition wait for the group. */
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
