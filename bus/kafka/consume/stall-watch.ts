import { setTimeout as delay } from 'node:timers/promises';
import { StalledError } from '../../errors.js';
import type { Cluster } from '../cluster.js';
import { passes } from '../faults.js';
import { offsetAt } from '../offsets.js';
import type { Lane } from './lane.js';

/**
 * Resolves when the signal is aborted. Rejects with `StalledError` when a handler has been waiting for `stallMs` for
 * records that are on the bus: asked for apart from fetching, so that it does not fail together with it. A handler that
 * takes long itself is not waiting.
 */
export async function watchForStall(
  cluster: Cluster,
  lanes: () => readonly Lane[],
  stallMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await delay(stallMs / 4, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    for (const lane of lanes()) {
      if (!waitsSince(lane, stallMs)) continue;
      const { topic, partition } = lane.partition;
      const from = lane.buffer.fetchOffset;
      try {
        const end = await offsetAt(cluster, { topic: lane.kafkaTopic, partition }, 'end', { forMs: 0, signal });
        if (end > from && from === lane.buffer.fetchOffset && waitsSince(lane, stallMs)) {
          throw new StalledError(topic, partition, end - from, stallMs);
        }
      } catch (error) {
        // A broker that does not answer holds everybody up; that is not ours to end.
        if (!passes(error) && !signal.aborted) throw error;
      }
    }
  }
}

function waitsSince({ buffer }: Lane, ms: number): boolean {
  return buffer.waitingSince !== undefined && performance.now() - buffer.waitingSince > ms;
}
