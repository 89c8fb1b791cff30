import { setTimeout as delay } from 'node:timers/promises';
import { StalledError } from '../../errors.js';
import type { Cluster } from '../cluster.js';
import { isTransient } from '../faults.js';
import { offsetAt } from '../offsets.js';
import type { PartitionConsumer } from './partition-consumer.js';

/**
 * Resolves when the signal is aborted. Rejects with `StalledError` when a partition has records and has received none
 * for `stallMs`. End offsets are listed on a connection of their own, so that the check works when fetching does not. A
 * slow handler is not a stall.
 */
export async function watchForStall(
  cluster: Cluster,
  consumers: () => readonly PartitionConsumer[],
  stallMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await delay(stallMs / 4, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    for (const consumer of consumers()) {
      if (!waitsSince(consumer, stallMs)) continue;
      const { topic, partition } = consumer.partition;
      const from = consumer.buffer.fetchOffset;
      try {
        const end = await offsetAt(cluster, { topic: consumer.kafkaTopic, partition }, 'end', { withinMs: 0, signal });
        if (end > from && from === consumer.buffer.fetchOffset && waitsSince(consumer, stallMs)) {
          throw new StalledError(topic, partition, end - from, stallMs);
        }
      } catch (error) {
        // A broker that does not respond is not a stall of this consumer; fetching resumes with the broker.
        if (!isTransient(error) && !signal.aborted) throw error;
      }
    }
  }
}

function waitsSince({ buffer }: PartitionConsumer, ms: number): boolean {
  return buffer.waitingSince !== undefined && performance.now() - buffer.waitingSince > ms;
}
