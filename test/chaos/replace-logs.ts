import { type Random, TOPICS } from '../../core/index.js';
import type { Auditor } from './audit.js';
import type { World } from './killers.js';

const DRAIN_MS = 120_000;

interface Alone extends World {
  readonly random: Random;
  readonly faults: (on: boolean) => void;
  readonly auditor: Auditor;
}

/**
 * Throws logs away once everything on them is written, and goes on with empty ones: some topics of Kafka are deleted
 * and made again while the workers run; the embedded log is wiped while nobody has it open.
 */
export function replaceLogs({ stage, tally, turns, random, faults, auditor }: Alone): Promise<void> {
  return turns.alone(async () => {
    faults(false);
    await Promise.all(stage.collectors.map((collector) => collector.stop()));
    await stage.rig.drained(DRAIN_MS);
    if (stage.broker) {
      const topics = [TOPICS.orderBook, random.pick([TOPICS.chance, TOPICS.collectorEvents])];
      await auditor.readBus(topics);
      await stage.replaceTopics(topics);
      tally.count('topics deleted and made again', topics.join(', '));
    } else {
      await auditor.readBus();
      await Promise.all(stage.workers.map((worker) => worker.stop()));
      await stage.rig.wipeLog();
      await stage.makeTopics();
      await Promise.all(stage.workers.map((worker) => worker.start()));
      tally.count('embedded log wiped');
    }
    await Promise.all(stage.collectors.map((collector) => collector.start()));
    faults(true);
  });
}
