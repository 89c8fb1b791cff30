import type { Bus, PartitionInfo } from '../bus/index.js';
import { TOPICS, type Topic } from '../core/index.js';

/** Up to where the rows of one partition are in ClickHouse. */
export interface LogPosition {
  readonly topic: string;
  readonly log: string;
  readonly partition: number;
  /** Offset of the first record whose rows may be missing. */
  readonly end: number;
  /** When that record was received, Unix microseconds; null when there is none yet. */
  readonly pendingSince: number | null;
}

/** The committed position of the transform workers in each partition of Chancery's topics. */
export async function committedPositions(bus: Bus, group: string): Promise<LogPosition[]> {
  // First the commits: what is committed later is not part of the export.
  const commits = await bus.committed(group);
  const committed = new Map(commits.map((c) => [`${c.topic}/${c.partition}`, c.offset]));
  const topics: readonly string[] = Object.values<Topic>(TOPICS);
  const known = (await bus.partitions()).filter(({ topic }) => topics.includes(topic));
  const positions = known.map(async (info) => {
    const end = committed.get(`${info.topic}/${info.partition}`) ?? info.begin;
    const { topic, log, partition } = info;
    return { topic, log, partition, end, pendingSince: await receivedAt(bus, info, end) };
  });
  return Promise.all(positions);
}

/** When the record at an offset, or the first one that retention has left behind it, was received; null when there is none. */
async function receivedAt(bus: Bus, { topic, partition, begin, end }: PartitionInfo, offset: number) {
  const first = Math.max(begin, offset);
  if (first >= end) return null;
  for await (const { bytes, bounds } of bus.read(topic, partition, first, first)) {
    const head = bytes.subarray(bounds[0], bounds[1]).toString('utf8', 0, 1024);
    // A record without a time holds back every day: it is read by the worker within moments.
    return Number(/"at":(\d+)/.exec(head)?.[1] ?? 0);
  }
  return 0;
}
