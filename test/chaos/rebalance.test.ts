import { expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { describeWithKafka } from '../kafka/index.js';
import { until } from '../support/until.js';
import { Auditor, totals } from './audit.js';
import type { Keeper } from './keeper.js';
import { LagWatch } from './lag-watch.js';
import { Stage } from './stage.js';

const ROUNDS = Number(process.env['REBALANCE_ROUNDS'] ?? 1);
const LAG_MS = 5000;
/** For half of the changes: time until everything is written that was on the bus after it, and the lag is below that. */
const RETURN_MS = 60_000;
/** For each of them, also on a busy machine. */
const MAX_RETURN_MS = 300_000;
const AROUND_MS = 300_000;

/** Two join, one is killed, one joins, one leaves cleanly, one is killed, and so on; at least one always runs. */
const CHANGES: readonly ((stage: Stage) => Promise<string>)[] = [add, add, kill, add, leave, kill];

describeWithKafka('a group of workers under load', { own: true }, (kafka) => {
  it('takes over from workers that join, leave and are killed, and its lag falls below 5 s each time', {
    timeout: AROUND_MS + ROUNDS * CHANGES.length * MAX_RETURN_MS,
  }, async () => {
    const options = { workers: 0, appenders: 2, recordsPerSecond: 100, load: 0, usesDefaultSession: true };
    const stage = await Stage.start({ bus: 'kafka', broker: kafka.own, seed: 5, ...options });
    const lag = new LagWatch(stage.rig.bus, TOPICS.orderBook);
    const changes: { readonly change: string; readonly workers: number; readonly returnedMs: number }[] = [];
    try {
      await add(stage);
      lag.start();
      for (const make of Array.from({ length: ROUNDS }, () => CHANGES).flat()) {
        const change = await make(stage);
        const changedAt = performance.now();
        const returned = () => lag.writtenUntil > changedAt && lag.nowMs < LAG_MS;
        const behind = () => [`${change}, behind by ${lag.nowMs} ms`, ...stage.lastLogLines].join('\n');
        await until(async () => returned() || behind(), MAX_RETURN_MS);
        const workers = stage.workers.filter((worker) => worker.service).length;
        changes.push({ change, workers, returnedMs: Math.round(performance.now() - changedAt) });
      }
      console.table(changes);
      const times = changes.map(({ returnedMs }) => returnedMs).sort((a, b) => a - b);
      expect(times[Math.ceil(times.length / 2) - 1]).toBeLessThan(RETURN_MS);
      await Promise.all(stage.collectors.map((collector) => collector.stop()));
      await stage.rig.drained();
      await lag.stop();
      const auditor = new Auditor(stage.rig, stage.acknowledgedFolder);
      await auditor.readBus();
      const audit = await auditor.audit();
      expect(totals(audit)).toMatchObject({ missing: 0, duplicate: 0 });
      expect(audit.acknowledged).toBeGreaterThan(500);
      expect(stage.failures).toEqual([]);
    } finally {
      await lag.stop();
      await stage.close();
    }
  });
});

async function add(stage: Stage): Promise<string> {
  await stage.addWorker(['--batch-delay-ms', '250']).start();
  return 'a worker came';
}

async function leave(stage: Stage): Promise<string> {
  await oldest(stage).stop();
  return 'a worker left';
}

async function kill(stage: Stage): Promise<string> {
  await oldest(stage).remove();
  return 'a worker was killed';
}

function oldest(stage: Stage): Keeper {
  const worker = stage.workers.find(({ service }) => service);
  if (!worker) throw new Error('no worker runs');
  return worker;
}
