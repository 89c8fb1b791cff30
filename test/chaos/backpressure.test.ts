import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { cpuSeconds, peakMemory } from '../../bench/process-usage.js';
import { deferred, packageRoot, SETTINGS, TOPICS } from '../../core/index.js';
import { composeText, parseCompose } from '../deploy/compose-file.js';
import { describeWithKafka } from '../kafka/index.js';
import type { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { envelope, MARKET } from '../transforms/support.js';
import { Stage } from './stage.js';

const AT_ONCE = 1000;
const RECORDS_PER_TOPIC = 300_000;
const PARTITIONS = 8;
const PAD = 1000;
const STABLE_MS = 3000;
/** 600,000 records, beside other tests on two processors. */
const DRAINED_WITHIN_MS = 700_000;
/** Fraction of a worker's limit in docker-compose.yml, and of the records that it may not hold; the rest is a margin. */
const MAX_SHARE = 0.9;

const run = promisify(execFile);

describeWithKafka('a ClickHouse that does not respond to inserts', { own: true }, (kafka) => {
  it('makes the worker pause: it reports the lag, its memory stays within its limit, and finally every row is stored once', {
    timeout: 900_000,
  }, async () => {
    const waiting = new Set<string>();
    const { promise: responding, resolve: respond } = deferred();
    const size = { workers: 0, appenders: 0, recordsPerSecond: 0, load: 0 };
    const stage = await Stage.start({
      ...size,
      bus: 'kafka',
      broker: kafka.own,
      seed: 1,
      partitions: PARTITIONS,
      fault: (path) => {
        const partition = /insert_deduplication_token=[^/&]+\/([^/]+\/\d+)\//.exec(path)?.[1];
        if (partition === undefined) return undefined;
        waiting.add(partition);
        return async ({ forward, answer }) => {
          await forward();
          await responding;
          answer();
        };
      },
    });
    try {
      const megabytes = (await flood(stage, 'order-book.frame')) + (await flood(stage, 'chance.frame'));
      const keeper = stage.addWorker(['--batch-delay-ms', String(SETTINGS.batchDelayMs.default)]);
      await keeper.start();
      const worker = keeper.service as ServiceProcess & { readonly ready: { readonly health: string } };
      await until(async () => waiting.size === 2 * PARTITIONS || `only ${[...waiting].join(', ')}`);
      const peak = await stableMemory(worker.pid);
      console.log(`${megabytes} MB on the bus, the worker took ${peak} MB at most`);
      expect(peak).toBeLessThan(MAX_SHARE * composeLimit());
      expect(peak).toBeLessThan(MAX_SHARE * megabytes);
      await until(async () => {
        const metrics = await (await fetch(`${worker.ready.health}/metrics`)).text();
        const lag = /chancery_transform_lag_records\{topic="chancery.order-book"\} (\d+)/.exec(metrics)?.[1];
        return Number(lag) === RECORDS_PER_TOPIC || `a lag of ${lag}`;
      });
      expect(await lagInStatus(stage)).toBe(RECORDS_PER_TOPIC);
      respond();
      await stage.rig.drained(DRAINED_WITHIN_MS);
      const count = 'count() AS rows, uniqExact(_topic, _partition, _offset) AS positions';
      const once = (records: number) => [{ rows: records, positions: records }];
      expect(await stage.rig.rows(`SELECT ${count} FROM raw_records`)).toEqual(once(2 * RECORDS_PER_TOPIC));
      for (const table of ['price_ticks', 'chance_points']) {
        const sql = `SELECT ${count.replace('_topic, ', '')} FROM ${table}`;
        expect(await stage.rig.rows(sql), table).toEqual(once(RECORDS_PER_TOPIC));
      }
      expect(await stage.rig.value('SELECT count() FROM dead_letters')).toBe(0);
      expect(keeper.service).toBe(worker);
    } finally {
      respond();
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
async function flood({ rig }: Stage, kind: 'order-book.frame' | 'chance.frame'): Promise<number> {
  const price = { t: 'PRICES_DATA_DELTA', e: 'event', d: [{ o: MARKET, c: 0.5, b: 0.49, a: 0.51 }] };
  const chance = { t: 'probability', e: 'event', o: [MARKET], d: { t: 1_700_000_000, p: 0.5 } };
  const [topic, body] = kind === 'chance.frame' ? [TOPICS.chance, chance] : [TOPICS.orderBook, price];
  const bodyJson = JSON.stringify({ ...body, pad: 'x'.repeat(PAD) });
  let bytes = 0;
  for (let n = 1; n <= RECORDS_PER_TOPIC; n += AT_ONCE) {
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
