import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import { openBusReadOnly } from '../cli/service/instance.js';
import { connectReadOnly } from '../cli/service/read-only.js';
import { lagOf } from '../cli/status/lag.js';
import { InstanceRun } from '../cli/up/instance-run.js';
import type { SupervisedProcess } from '../cli/up/supervised-process.js';
import { loadConfig, type Settings, systemClock } from '../core/index.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary-folder.js';
import type { BenchFigure } from './bench.js';
import { peakMemory } from './process-usage.js';
import { quantile } from './quantile.js';

export const FRAMES_PER_SECOND = 5000;
export const SECONDS = 60;
const QUICK_SECONDS = 5;
/** Interval between queries for visible rows; measured latencies may be this much too long. */
const POLL_MS = 50;
const DRAIN_MS = 30_000;

/** The visible rows of one partition at one moment: those received up to `frontier`. */
interface Sample {
  /** Time at which the query returned, Unix microseconds. */
  readonly at: number;
  readonly frontier: number;
}

/**
 * The complete pipeline in its real processes: exchange with its load generator, collector, worker, embedded ClickHouse.
 * Measures the latency from a frame's receipt at the collector's socket to its row in a query result, lost frames, and the
 * collector's memory.
 */
export async function benchLive(quick: boolean): Promise<BenchFigure[]> {
  const folder = temporaryFolder();
  const settings = loadConfig({ data: folder, logLevel: 'warn' }, {}, folder);
  const instance = new InstanceRun({
    settings,
    given: new Set(['data']),
    exchangePort: undefined,
    exchangeFlags: ['--bots', '0', '--pace', '0'],
    onMessage: (text) => process.stderr.write(`${text}\n`),
  });
  const signal = new AbortController().signal;
  try {
    await instance.start(signal);
    const connection = await connectReadOnly(instance.settings, signal);
    try {
      return await measure(instance, connection.client, quick ? QUICK_SECONDS : SECONDS);
    } finally {
      await connection.close();
    }
  } finally {
    await instance.stop();
    removeFolder(folder);
  }
}

async function measure(instance: InstanceRun, client: ClickHouseClient, seconds: number): Promise<BenchFigure[]> {
  await drained(instance.settings);
  const samples = new Map<number, Sample[]>();
  const startedAt = systemClock.nowMicros();
  await setLoad(instance, FRAMES_PER_SECOND);
  const endAt = startedAt + seconds * 1e6;
  while (systemClock.nowMicros() < endAt) {
    await sample(client, startedAt, samples);
    await sleep(POLL_MS);
  }
  await setLoad(instance, 0);
  const { sent, skipped } = await setLoad(instance, 0);
  const memory = peakMemory(partOf(instance, 'collect').pid ?? 0);
  for (const deadline = systemClock.nowMs() + DRAIN_MS; systemClock.nowMs() < deadline; await sleep(POLL_MS)) {
    await sample(client, startedAt, samples);
    if ((await waiting(instance.settings)) === 0) break;
  }
  await sample(client, startedAt, samples);
  const { latencies, recorded } = await latenciesOf(client, startedAt, samples);
  return [
    { name: 'frames sent', value: sent, unit: 'frames', better: 'neither' },
    { name: 'frames skipped by the load generator', value: skipped, unit: 'frames' },
    { name: 'frames lost', value: sent - recorded, unit: 'frames' },
    { name: 'latency from socket to query result, p50', value: Math.round(quantile(latencies, 0.5)), unit: 'ms' },
    { name: 'latency from socket to query result, p99', value: Math.round(quantile(latencies, 0.99)), unit: 'ms' },
    { name: 'collector, peak resident memory', value: memory, unit: 'MB' },
  ];
}

/** Records up to which receive time each partition is visible. */
async function sample(client: ClickHouseClient, since: number, samples: Map<number, Sample[]>): Promise<void> {
  const answer = await client.query({
    query: `
      SELECT _partition AS partition, toUnixTimestamp64Micro(max(received_at)) AS frontier
      FROM price_ticks
      WHERE source = 'delta' AND received_at >= fromUnixTimestamp64Micro({since:Int64})
      GROUP BY _partition`,
    query_params: { since: Math.max(since, systemClock.nowMicros() - 20e6) },
    format: 'JSONEachRow',
  });
  const rows = await answer.json<{ partition: number; frontier: number | string }>();
  const at = systemClock.nowMicros();
  for (const { partition, frontier } of rows) {
    const list = samples.get(partition) ?? [];
    samples.set(partition, list);
    list.push({ at, frontier: Number(frontier) });
  }
}

/** Latency of each recorded delta, milliseconds: from its receipt to the first sample in which it was visible. */
async function latenciesOf(client: ClickHouseClient, since: number, samples: ReadonlyMap<number, readonly Sample[]>) {
  const answer = await client.query({
    query: `
      SELECT _partition, toUnixTimestamp64Micro(received_at)
      FROM price_ticks
      WHERE source = 'delta' AND received_at >= fromUnixTimestamp64Micro({since:Int64})
      ORDER BY _partition, received_at`,
    query_params: { since },
    format: 'JSONCompactEachRow',
  });
  const rows = await answer.json<[number, number | string]>();
  const latencies: number[] = [];
  let partition = -1;
  let list: readonly Sample[] = [];
  let next = 0;
  for (const [of, receivedAt] of rows) {
    if (of !== partition) {
      partition = of;
      list = samples.get(of) ?? [];
      next = 0;
    }
    while (next < list.length && (list[next]?.frontier ?? 0) < Number(receivedAt)) next += 1;
    const seen = list[next];
    if (!seen) throw new Error(`a row of partition ${of} never became visible`);
    latencies.push((seen.at - Number(receivedAt)) / 1000);
  }
  return { latencies, recorded: rows.length };
}

async function setLoad(instance: InstanceRun, framesPerSecond: number): Promise<{ sent: number; skipped: number }> {
  const { url, token } = partOf(instance, 'exchange').ready['control'] as { url: string; token: string };
  const response = await fetch(`${url}/load`, {
    method: 'POST',
    headers: { 'X-Control-Token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ framesPerSecond }),
  });
  if (!response.ok) throw new Error(`the exchange rejected the load: ${response.status} ${await response.text()}`);
  return (await response.json()) as { sent: number; skipped: number };
}

/** Waits until the collector is subscribed and everything it received at start is in ClickHouse. */
async function drained(settings: Settings): Promise<void> {
  for (let quiet = 0; quiet < 3; await sleep(1000)) quiet = (await waiting(settings)) === 0 ? quiet + 1 : 0;
}

async function waiting(settings: Settings): Promise<number> {
  const bus = openBusReadOnly(settings);
  if (!bus) return 0;
  try {
    return (await lagOf(bus, settings.group))
      .filter(({ topic }) => topic === 'chancery.order-book')
      .reduce((sum, { lag }) => sum + lag, 0);
  } finally {
    await bus.close();
  }
}

function partOf(instance: InstanceRun, name: string): SupervisedProcess {
  const part = instance.services.find((p) => p.name === name);
  if (!part) throw new Error(`${name} is not running`);
  return part;
}
