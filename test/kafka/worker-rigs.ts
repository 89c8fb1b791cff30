import { afterEach } from 'vitest';
import type { Bus } from '../../bus/index.js';
import { useDatabase } from '../support/database.js';
import { WorkerRig } from '../transforms/worker-rig.js';
import type { KafkaUnderTest } from './describe.js';

type KafkaBus = ReturnType<KafkaUnderTest['open']>;

export interface WorkerRigs {
  /** A rig on topics of its own. */
  newRig(): Promise<{ readonly rig: WorkerRig; readonly bus: KafkaBus }>;
  /** A rig on this bus, whose topics may exist. */
  rigOn(bus: Bus): WorkerRig;
}

/** Rigs on the suite's Kafka and on one database of the file; each test's are closed after it. */
export function useWorkerRigs(kafka: KafkaUnderTest): WorkerRigs {
  const host = useDatabase({ migrated: true });
  const rigs: WorkerRig[] = [];
  afterEach(async () => {
    for (const rig of rigs.splice(0)) await rig.close();
  });
  const rigOn = (bus: Bus): WorkerRig => {
    const rig = new WorkerRig(host.database.owner, host.database.name, bus);
    rigs.push(rig);
    return rig;
  };
  return {
    rigOn,
    async newRig() {
      const bus = kafka.open();
      const rig = rigOn(bus);
      await rig.prepare();
      return { rig, bus };
    },
  };
}
