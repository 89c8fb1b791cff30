import type { Bus } from '../../bus/index.js';
import { until } from './until.js';

/** Resolves when the group has committed everything that is on the bus, of the given partitions, and no batch is begun. */
export async function processed(
  bus: Bus,
  group: string,
  counts: (topic: string, partition: number) => boolean = () => true,
): Promise<void> {
  await until(async () => {
    const committed = await bus.committed(group);
    const behind = (await bus.partitions()).filter(({ topic, partition, begin, end }) => {
      const done = committed.find((c) => c.topic === topic && c.partition === partition);
      return counts(topic, partition) && end > begin && (!done || done.offset < end || done.intent !== undefined);
    });
    return behind.length === 0 || `behind: ${behind.map(({ topic, partition }) => `${topic}/${partition}`).join(', ')}`;
  });
}
