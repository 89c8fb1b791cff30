import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { describeWithKafka } from '../kafka/index.js';
import { until } from '../support/until.js';
import { Auditor, totals } from './audit.js';
import type { Keeper } from './keeper.js';
import { LagWatch } from './lag-watch.js';
import { Stage } from './stage.js';

const MINUTES = Number(process.env['REBALANCE_MINUTES'] ?? (process.env['CI'] === 'true' ? 1 : 0.5));
const STEP_MS = 10_000;
const LAG_MS = 5000;
/** Timeout for the lag to fall below that after a change. */
const RETURN_MS = 60_000;
const AROUND_MS = 300_000;

describeWithKafka('a group of workers under load', { own: true }, (kafka) => {
  it('takes over from workers that join, leave and are killed, and its lag falls below 5 s each time', {
    timeout: AROUND_MS + 4 * MINUTES * 60_000,
  }, async () => {
    const size = { workers: 0, appenders: 2, recordsPerSecond: 100, load: 0 };
    const stage = await Stage.start({ bus: 'kafka', broker: kafka.own, seed: 5, ...size });
    const lag = new LagWatch(stage.rig.bus, TOPICS.orderBook);
    const changes: { readonly change: string; readonly workers: number; readonly returnedMs: number }[] = [];
    try {
      await add(stage);
      lag.start();
      const over = performance.now() + MINUTES * 60_000;
      for (let step = 0; performance.now() < over; step++) {
        const changedAt = performance.now();
        const change = await CHANGES[step % CHANGES.length]?.(stage);
        await until(async () => lag.since(changedAt) < LAG_MS || `behind by ${lag.nowMs} ms`, RETURN_MS);
        const workers = stage.workers.filter((worker) => worker.part).length;
        changes.push({ change: change ?? '', workers, returnedMs: Math.round(performance.now() - changedAt) });
        await delay(Math.max(0, changedAt + STEP_MS - performance.now()));
      }
      console.table(changes);
      await Promise.all(stage.collectors.map((collector) => collector.stop()));
      await stage.rig.drained(AROUND_MS);
      await lag.stop();
      const auditor = new Auditor(stage.rig, stage.acknowledgedFolder);
      await auditor.readBus();
      const audit = await auditor.audit();
      expect(totals(audit)).toMatchObject({ missing: 0, doubled: 0 });
      expect(audit.acknowledged).toBeGreaterThan(MINUTES * 60 * 50);
      expect(stage.failures).toEqual([]);
    } finally {
      await lag.stop();
      await stage.close();
    }
  });
});

/** Two join, one is killed, one joins, one leaves cleanly, one is killed, and so on; at least one always runs. */
const CHANGES: readonly ((stage: Stage) => Promise<string>)[] = [add, add, kill, add, leave, kill];

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
  const worker = stage.workers.find(({ part }) => part);
  if (!worker) throw new Error('no worker runs');
  return worker;
}
