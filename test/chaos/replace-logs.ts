import { type Random, TOPICS } from '../../core/index.js';
import type { Auditor } from './audit.js';
import type { ChaosContext } from './killers.js';

interface ExclusiveContext extends ChaosContext {
  readonly random: Random;
  readonly faults: (on: boolean) => void;
  readonly auditor: Auditor;
}

/**
 * Replaces logs by empty ones once all their records are written: some topics of Kafka are deleted and created again while
 * the workers run; the embedded log is deleted while no process has it open.
 */
export function replaceLogs({ stage, tally, turns, random, faults, auditor }: ExclusiveContext): Promise<void> {
  return turns.alone(async () => {
    faults(false);
    await Promise.all(stage.collectors.map((collector) => collector.stop()));
    await stage.rig.drained();
    if (stage.broker) {
      const topics = [TOPICS.orderBook, random.pick([TOPICS.chance, TOPICS.collectorEvents])];
      await auditor.readBus(topics);
      await stage.replaceTopics(topics);
      tally.count('topics deleted and created again', topics.join(', '));
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
