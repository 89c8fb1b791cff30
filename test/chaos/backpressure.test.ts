import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packageRoot, SETTINGS, TOPICS } from '../../core/index.js';
import { describeWithKafka } from '../kafka/index.js';
import { until } from '../pipeline/rig.js';
import type { Part } from '../support/part.js';
import { envelope, MARKET } from '../transforms/support.js';
import { Auditor, totals } from './audit.js';
import { Stage } from './stage.js';

const RECORDS = 160_000;
const AT_ONCE = 1000;
const PAD = 'x'.repeat(2000);
/** Rows of one batch; with it, what a worker may hold is far below what waits on the bus. */
const BATCH_ROWS = '500';
const SLOW_MS = 1500;
const MANY_RECORDS = 3_000_000;
const STANDSTILL_MS = 120_000;
const SETTLED_MS = 3000;
/** Four fifths of a worker's limit in docker-compose.yml. */
const MOST_BYTES = 0.8 * 2 ** 30;
const DRAIN_MS = 240_000;

const run = promisify(execFile);

describeWithKafka('a ClickHouse that is slow', { own: true }, (kafka) => {
  it('makes the worker pause: the lag shows, its memory stays bounded, and in the end everything is there once', {
    timeout: 600_000,
  }, async () => {
    let slow = true;
    const stage = await Stage.start({
      bus: 'kafka',
      broker: kafka.own,
      seed: 1,
      workers: 0,
      appenders: 0,
      recordsPerSecond: 0,
      load: 0,
      fault: (path) => (slow && path.includes('INSERT INTO') ? 'slow' : undefined),
      faultDelayMs: () => SLOW_MS,
    });
    try {
      const keeper = stage.addWorker(['--batch-rows', BATCH_ROWS]);
      await keeper.start();
      const worker = keeper.part as Part & { readonly ready: { readonly health: string } };
      const bytes = await flood(stage, RECORDS, PAD);
      await delay(3 * SLOW_MS);
      const metrics = await (await fetch(`${worker.ready.health}/metrics`)).text();
      const lag = Number(/chancery_transform_lag_records\{topic="chancery.order-book"\} (\d+)/.exec(metrics)?.[1]);
      expect(lag).toBeGreaterThan(RECORDS / 8);
      expect(await lagInStatus(stage)).toBeGreaterThan(RECORDS / 8);
      const peak = peakBytes(worker.pid);
      console.log(`${mega(bytes)} MB on the bus, ${lag} records wait, the worker took ${mega(peak)} MB at most`);
      expect(peak).toBeLessThan(bytes * 0.9);
      slow = false;
      await stage.rig.drained(DRAIN_MS);
      const auditor = new Auditor(stage.rig, stage.acknowledgedFolder);
      await auditor.readBus();
      expect(totals(await auditor.audit())).toMatchObject({ missing: 0, doubled: 0 });
      expect(keeper.part).toBe(worker);
    } finally {
      await stage.close();
    }
  });
});

describeWithKafka('a ClickHouse that stands still', { own: true }, (kafka) => {
  it('leaves a worker with eight partitions, far behind, well within the memory that docker-compose.yml gives it', {
    timeout: 300_000,
  }, async () => {
    let held = 0;
    const stage = await Stage.start({
      bus: 'kafka',
      broker: kafka.own,
      seed: 1,
      workers: 0,
      appenders: 0,
      recordsPerSecond: 0,
      load: 0,
      partitions: 8,
      fault: (path) => {
        if (!path.includes('INSERT INTO')) return undefined;
        held += 1;
        return 'slow';
      },
      faultDelayMs: () => STANDSTILL_MS,
    });
    try {
      const bytes = await flood(stage, MANY_RECORDS);
      const keeper = stage.addWorker(['--batch-delay-ms', String(SETTINGS.batchDelayMs.default)]);
      await keeper.start();
      const { pid } = keeper.part as Part;
      await until(60_000, async () => held >= 8 || `${held} inserts`);
      const peak = await settled(pid);
      console.log(`${mega(bytes)} MB on the bus, the worker took ${mega(peak)} MB at most`);
      expect(peak).toBeLessThan(MOST_BYTES);
      await keeper.remove();
    } finally {
      await stage.close();
    }
  });
});

/** Waits until a process hardly takes more memory than it ever did; answers how much that is, bytes. */
async function settled(pid: number): Promise<number> {
  for (let peak = peakBytes(pid); ; peak = peakBytes(pid)) {
    await delay(SETTLED_MS);
    if (peakBytes(pid) < 1.01 * peak) return peakBytes(pid);
  }
}

/** Appends more than a worker may hold; answers how many bytes. */
async function flood({ rig }: Stage, records: number, pad?: string): Promise<number> {
  let bytes = 0;
  for (let n = 1; n <= records; n += AT_ONCE) {
    const those = Array.from({ length: AT_ONCE }, (_, i) => {
      const body = { t: 'PRICES_DATA_DELTA', e: 'event', d: [{ o: MARKET, c: 0.5, b: 0.49, a: 0.51 }], pad };
      const value = envelope({ n: n + i, bodyJson: JSON.stringify(body) });
      bytes += value.length;
      return { key: `key ${i % 64}`, value };
    });
    await rig.bus.append(TOPICS.orderBook, those);
  }
  return bytes;
}

async function lagInStatus(stage: Stage): Promise<number> {
  const { folder, busArgs } = stage.rig;
  const status = ['status', '--json', '--data', folder, ...busArgs, ...stage.clickHouseArgs];
  const { stdout } = await run(process.execPath, [join(packageRoot(), 'dist/cli/main.js'), ...status]);
  const { bus } = JSON.parse(stdout) as { bus: { topic: string; lag: number }[] };
  return bus.filter(({ topic }) => topic === TOPICS.orderBook).reduce((sum, { lag }) => sum + lag, 0);
}

/** The most memory that a process ever had resident. */
function peakBytes(pid: number): number {
  return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

const mega = (bytes: number): number => Math.round(bytes / 1e6);
