import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { cpuSeconds, peakMemory } from '../../bench/process-usage.js';
import { packageRoot, SETTINGS, TOPICS } from '../../core/index.js';
import { composeText, parseCompose } from '../deploy/compose-file.js';
import type { Broker } from '../kafka/broker.js';
import { describeWithKafka } from '../kafka/index.js';
import type { Part } from '../support/part.js';
import { until } from '../support/until.js';
import { envelope, MARKET } from '../transforms/support.js';
import { Auditor, totals } from './audit.js';
import { Stage, type StageOptions } from './stage.js';

const AT_ONCE = 1000;
const RECORDS = 160_000;
/** Rows per batch; with it, a worker's buffer limit is far below the lag. */
const BATCH_ROWS = '500';
const SLOW_MS = 1500;
const DRAIN_MS = 240_000;

const RECORDS_PER_TOPIC = 350_000;
const PARTITIONS = 8;
const STANDSTILL_MS = 240_000;
const STABLE_MS = 3000;
/** Fraction of a worker's limit in docker-compose.yml; the rest is a margin. */
const MAX_SHARE = 0.9;

const run = promisify(execFile);

/** A stage with only ClickHouse, whose responses to inserts are delayed. */
const slowStage = (broker: Broker, more: Pick<StageOptions, 'fault' | 'faultDelayMs' | 'partitions'>): Promise<Stage> =>
  Stage.start({ bus: 'kafka', broker, seed: 1, workers: 0, appenders: 0, recordsPerSecond: 0, load: 0, ...more });

describeWithKafka('a ClickHouse that is slow', { own: true }, (kafka) => {
  it('makes the worker pause: it reports the lag, its memory stays bounded, and finally every row is stored once', {
    timeout: 600_000,
  }, async () => {
    let slow = true;
    const stage = await slowStage(kafka.own, {
      fault: (path) => (slow && path.includes('INSERT INTO') ? 'slow' : undefined),
      faultDelayMs: () => SLOW_MS,
    });
    try {
      const keeper = stage.addWorker(['--batch-rows', BATCH_ROWS]);
      await keeper.start();
      const worker = keeper.part as Part & { readonly ready: { readonly health: string } };
      const waiting = await flood(stage, 'order-book.frame', RECORDS, 3000);
      await delay(3 * SLOW_MS);
      const metrics = await (await fetch(`${worker.ready.health}/metrics`)).text();
      const lag = Number(/chancery_transform_lag_records\{topic="chancery.order-book"\} (\d+)/.exec(metrics)?.[1]);
      expect(lag).toBeGreaterThan(RECORDS / 8);
      expect(await lagInStatus(stage)).toBeGreaterThan(RECORDS / 8);
      const peak = peakMemory(worker.pid);
      console.log(`${waiting} MB on the bus, ${lag} records wait, the worker took ${peak} MB at most`);
      expect(peak).toBeLessThan(waiting * 0.9);
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
  it('leaves a worker with a large lag on two topics within its memory limit of docker-compose.yml', {
    timeout: 900_000,
  }, async () => {
    const waitFor = new Set<string>();
    const stage = await slowStage(kafka.own, {
      partitions: PARTITIONS,
      fault: (path) => {
        const partition = /insert_deduplication_token=[^/&]+\/([^/]+\/\d+)\//.exec(path)?.[1];
        if (partition === undefined) return undefined;
        waitFor.add(partition);
        return 'slow';
      },
      faultDelayMs: () => STANDSTILL_MS,
    });
    try {
      const prices = await flood(stage, 'order-book.frame', RECORDS_PER_TOPIC, 1000);
      const chances = await flood(stage, 'chance.frame', RECORDS_PER_TOPIC, 1000);
      const keeper = stage.addWorker(['--batch-delay-ms', String(SETTINGS.batchDelayMs.default)]);
      await keeper.start();
      const { pid } = keeper.part as Part;
      await until(async () => waitFor.size === 2 * PARTITIONS || `only ${[...waitFor].join(', ')}`, 120_000);
      const peak = await stableMemory(pid);
      console.log(`${prices + chances} MB on the bus, the worker took ${peak} MB at most`);
      expect(peak).toBeLessThan(MAX_SHARE * composeLimit());
      await keeper.remove();
    } finally {
      await stage.close();
    }
  });
});

/** Memory limit of a worker in docker-compose.yml, MB. */
function composeLimit(): number {
  const text = parseCompose(composeText()).services['transform']?.deploy?.resources?.limits?.memory ?? '';
  const [, gibibytes] = /^(\d+)g$/.exec(text) ?? [];
  return (Number(gibibytes) * 2 ** 30) / 1e6;
}

/** Waits until a process is idle and its peak memory does not grow; returns the peak, MB. */
async function stableMemory(pid: number): Promise<number> {
  for (;;) {
    const [memory, cpu] = [peakMemory(pid), cpuSeconds(pid)];
    await delay(STABLE_MS);
    const busy = (cpuSeconds(pid) - cpu) / (STABLE_MS / 1000);
    if (busy < 0.2 && peakMemory(pid) < 1.01 * memory) return peakMemory(pid);
  }
}

/** Appends more than a worker may buffer; returns the size, MB. */
async function flood(
  { rig }: Stage,
  kind: 'order-book.frame' | 'chance.frame',
  records: number,
  pad: number,
): Promise<number> {
  const price = { t: 'PRICES_DATA_DELTA', e: 'event', d: [{ o: MARKET, c: 0.5, b: 0.49, a: 0.51 }] };
  const chance = { t: 'probability', e: 'event', o: [MARKET], d: { t: 1_700_000_000, p: 0.5 } };
  const [topic, body] = kind === 'chance.frame' ? [TOPICS.chance, chance] : [TOPICS.orderBook, price];
  const bodyJson = JSON.stringify({ ...body, pad: 'x'.repeat(pad) });
  let bytes = 0;
  for (let n = 1; n <= records; n += AT_ONCE) {
    const those = Array.from({ length: AT_ONCE }, (_, i) => {
      const value = envelope({ kind, sequence: n + i, bodyJson });
      bytes += value.length;
      return { key: `key ${i % 64}`, value };
    });
    await rig.bus.append(topic, those);
  }
  return Math.round(bytes / 1e6);
}

async function lagInStatus(stage: Stage): Promise<number> {
  const { folder, busArgs } = stage.rig;
  const status = ['status', '--json', '--data', folder, ...busArgs, ...stage.clickHouseArgs];
  const { stdout } = await run(process.execPath, [join(packageRoot(), 'dist/cli/main.js'), ...status]);
  const { bus } = JSON.parse(stdout) as { bus: { topic: string; lag: number }[] };
  return bus.filter(({ topic }) => topic === TOPICS.orderBook).reduce((sum, { lag }) => sum + lag, 0);
}
