import type { Bus } from '../../bus/index.js';

/** The consumer lag of the group, by topic. */
export async function lagByTopic(
  bus: Bus,
  topics: readonly string[],
  group: string,
): Promise<ReadonlyMap<string, number>> {
  const committed = new Map((await bus.committed(group)).map((c) => [`${c.topic}/${c.partition}`, c.offset]));
  const lag = new Map<string, number>();
  for (const { topic, partition, begin, end } of await bus.partitions()) {
    if (!topics.includes(topic)) continue;
    const next = committed.get(`${topic}/${partition}`) ?? begin;
    lag.set(topic, (lag.get(topic) ?? 0) + Math.max(0, end - next));
  }
  return lag;
}
