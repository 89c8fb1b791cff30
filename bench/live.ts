import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import { connectReadOnly } from '../cli/service/read-only.js';
import { systemClock } from '../core/index.js';
import type { BenchFigure } from './bench.js';
import { Freshness } from './freshness.js';
import { LiveInstance } from './live-instance.js';
import { peakMemory } from './process-usage.js';
import { quantile } from './quantile.js';

export const FRAMES_PER_SECOND = 5000;
export const SECONDS = 60;
const QUICK_SECONDS = 5;
/** Interval between queries for visible rows; measured latencies may be this much too long. */
export const POLL_MS = 50;
const DRAIN_MS = 30_000;

/**
 * The complete pipeline in its real processes: exchange with its load generator, collector, worker, embedded ClickHouse.
 * Measures the latency from a frame's receipt at the collector's socket to its row in a query result, lost frames, and the
 * collector's memory.
 */
export async function benchLive(quick: boolean): Promise<BenchFigure[]> {
  const instance = await LiveInstance.start();
  try {
    const connection = await connectReadOnly(instance.settings, new AbortController().signal);
    try {
      return await measure(instance, connection.client, quick ? QUICK_SECONDS : SECONDS);
    } finally {
      await connection.close();
    }
  } finally {
    await instance.stop();
  }
}

async function measure(instance: LiveInstance, client: ClickHouseClient, seconds: number): Promise<BenchFigure[]> {
  await instance.drained();
  const freshness = new Freshness(client, systemClock.nowMicros());
  await instance.setLoad(FRAMES_PER_SECOND);
  const endAt = freshness.since + seconds * 1e6;
  while (systemClock.nowMicros() < endAt) {
    await freshness.sample();
    await sleep(POLL_MS);
  }
  await instance.setLoad(0);
  const { sent, skipped } = await instance.setLoad(0);
  const memory = peakMemory(instance.pidOf('collect'));
  await sampleUntilDrained(instance, freshness);
  const latencies = await freshness.latencies();
  return [
    { name: 'frames sent', value: sent, unit: 'frames', better: 'neither' },
    { name: 'frames skipped by the load generator', value: skipped, unit: 'frames' },
    { name: 'frames lost', value: sent - latencies.length, unit: 'frames' },
    { name: 'latency from socket to query result, p50', value: Math.round(quantile(latencies, 0.5)), unit: 'ms' },
    { name: 'latency from socket to query result, p99', value: Math.round(quantile(latencies, 0.99)), unit: 'ms' },
    { name: 'collector, peak resident memory', value: memory, unit: 'MB' },
  ];
}

/** Samples until everything that was received is visible. */
export async function sampleUntilDrained(instance: LiveInstance, freshness: Freshness): Promise<void> {
  for (const deadline = systemClock.nowMs() + DRAIN_MS; systemClock.nowMs() < deadline; await sleep(POLL_MS)) {
    await freshness.sample();
    if ((await instance.waiting()) === 0) break;
  }
  await freshness.sample();
}
