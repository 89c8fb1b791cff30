import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import { systemClock } from '../../core/index.js';
import { loadDashboards } from '../../test/dashboards/shipped-dashboards.js';
import { ServiceProcess } from '../../test/support/service-process.js';
import type { BenchFigure } from '../bench.js';
import { Freshness } from '../freshness.js';
import { FRAMES_PER_SECOND, POLL_MS, sampleUntilDrained } from '../live.js';
import { LiveInstance } from '../live-instance.js';
import { peakMemory } from '../process-usage.js';
import { quantile } from '../quantile.js';

export const VIEWERS = 200;
const QUICK_VIEWERS = 20;
export const LOAD_DASHBOARD = 'chancery-market-overview';
/** Duration of each of the two measurements: two refreshes of the dashboard. */
export const LOAD_SECONDS = 20;
const QUICK_SECONDS = 10;
export const LOAD_REFRESH_SECONDS = 10;
const SCRIPT = 'bench/viewer/viewer-clients.js';

interface Measured {
  readonly rowsPerSecond: number;
  readonly p99Ms: number;
  readonly skipped: number;
  readonly readerQueries: number;
}

/**
 * A whole instance in its real processes under a load of order book frames, first without viewers, then with viewers of one
 * dashboard in a further process: what they cost the worker and the freshness, and what they ask of ClickHouse.
 */
export async function benchViewerLoad(quick: boolean): Promise<BenchFigure[]> {
  const viewers = quick ? QUICK_VIEWERS : VIEWERS;
  const seconds = quick ? QUICK_SECONDS : LOAD_SECONDS;
  const instance = await LiveInstance.start();
  try {
    const client = await instance.connect();
    try {
      await instance.drained();
      const alone = await underLoad(instance, client, seconds);
      const clients = await ServiceProcess.startScript<{ panels: number }>(SCRIPT, [
        instance.viewerUrl,
        String(viewers),
        LOAD_DASHBOARD,
      ]);
      const watched = await underLoad(instance, client, seconds).finally(() => clients.stop());
      if (clients.stderr !== '') throw new Error(clients.stderr);
      const memory = peakMemory(instance.pidOf('view'));
      return figuresOf({ alone, watched, memory, viewers, seconds });
    } finally {
      await client.close();
    }
  } finally {
    await instance.stop();
  }
}

async function underLoad(instance: LiveInstance, client: ClickHouseClient, seconds: number): Promise<Measured> {
  const before = await instance.setLoad(0);
  const queriesBefore = await readerQueries(client);
  const freshness = new Freshness(client, systemClock.nowMicros());
  await instance.setLoad(FRAMES_PER_SECOND);
  const endAt = freshness.since + seconds * 1e6;
  while (systemClock.nowMicros() < endAt) {
    await freshness.sample();
    await sleep(POLL_MS);
  }
  const readerQueriesThen = await readerQueries(client);
  await instance.setLoad(0);
  const after = await instance.setLoad(0);
  await sampleUntilDrained(instance, freshness);
  const took = (systemClock.nowMicros() - freshness.since) / 1e6;
  const latencies = await freshness.latencies();
  const sent = after.sent - before.sent;
  if (latencies.length < sent) throw new Error(`${sent - latencies.length} of ${sent} frames are not recorded`);
  return {
    rowsPerSecond: latencies.length / took,
    p99Ms: quantile(latencies, 0.99),
    skipped: after.skipped - before.skipped,
    readerQueries: readerQueriesThen - queriesBefore,
  };
}

/** Number of SELECTs that the viewer has sent so far: ClickHouse counts them for each user. */
async function readerQueries(client: ClickHouseClient): Promise<number> {
  const answer = await client.query({
    query: `SELECT ProfileEvents['SelectQuery'] AS queries FROM system.user_processes WHERE user = 'reader'`,
    format: 'JSONEachRow',
  });
  const [row] = await answer.json<{ queries: string | number }>();
  return Number(row?.queries ?? 0);
}

function figuresOf({
  alone,
  watched,
  memory,
  viewers,
  seconds,
}: {
  readonly alone: Measured;
  readonly watched: Measured;
  readonly memory: number;
  readonly viewers: number;
  readonly seconds: number;
}): BenchFigure[] {
  const percent = (before: number, after: number) => Math.round((1000 * (after - before)) / before) / 10;
  const dashboard = loadDashboards().find(({ uid }) => uid === LOAD_DASHBOARD);
  const panels = (dashboard?.panels ?? []).filter(({ type }) => type !== 'row' && type !== 'text').length;
  const queries = Math.round(watched.readerQueries / (seconds / LOAD_REFRESH_SECONDS));
  const name = `${viewers} viewers`;
  return [
    { name: 'rows inserted without viewers', value: Math.round(alone.rowsPerSecond), unit: 'rows/s' },
    { name: `rows inserted with ${name}`, value: Math.round(watched.rowsPerSecond), unit: 'rows/s' },
    {
      name: 'change of that rate',
      value: percent(alone.rowsPerSecond, watched.rowsPerSecond),
      unit: '%',
      better: 'higher',
    },
    { name: 'socket to query result without viewers, p99', value: Math.round(alone.p99Ms), unit: 'ms' },
    { name: `socket to query result with ${name}, p99`, value: Math.round(watched.p99Ms), unit: 'ms' },
    { name: 'change of that latency', value: percent(alone.p99Ms, watched.p99Ms), unit: '%' },
    { name: 'frames skipped by the load generator', value: alone.skipped + watched.skipped, unit: 'frames' },
    { name: 'panels of the dashboard', value: panels, unit: 'panels', better: 'neither' },
    { name: `queries of the viewer in ${LOAD_REFRESH_SECONDS} s with ${name}`, value: queries, unit: 'queries' },
    { name: 'viewer, peak resident memory', value: memory, unit: 'MB' },
  ];
}
