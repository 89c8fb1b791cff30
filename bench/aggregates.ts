import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchFigure } from './bench.js';
import { FrameSource, fillOrderBook } from './frames.js';
import { cpuSeconds } from './process-usage.js';
import { POLL_MS, RateClock } from './rate-clock.js';
import { median } from './results.js';
import { WarehouseRig } from './warehouse-rig.js';

/** Entries of a frame. */
export const ENTRIES = 10;
/** Measurements with aggregates, and without, by turns. */
const PAIRS = 3;
/** More than a block of every partition, so that the worker aggregates blocks too. */
const RECORDS = 400_000;
const QUICK_RECORDS = 6_000;

interface Cost {
  /** Of worker and ClickHouse. */
  readonly cpuSecondsPerMillion: number;
  readonly ticksPerSecond: number;
}

/**
 * What the aggregates of ticks (price_states, price_blocks, and through them price_hours and price_days) cost while ticks are inserted:
 * the same records with them, and without the materialized views that feed them.
 */
export async function benchAggregates(quick: boolean): Promise<BenchFigure[]> {
  const costs: Readonly<Record<'with' | 'without', Cost[]>> = { with: [], without: [] };
  const records = quick ? QUICK_RECORDS : RECORDS;
  for (let pair = 0; pair < (quick ? 1 : PAIRS); pair++) {
    costs.without.push(await measure(records, false));
    costs.with.push(await measure(records, true));
  }
  const of = (side: 'with' | 'without', pick: (cost: Cost) => number) => median(costs[side].map(pick));
  const cpu = (side: 'with' | 'without') => of(side, (cost) => cost.cpuSecondsPerMillion);
  const rate = (side: 'with' | 'without') => of(side, (cost) => cost.ticksPerSecond);
  const rounded = (value: number, digits: number) => Number(value.toFixed(digits));
  return [
    { name: 'with aggregates', value: Math.round(rate('with')), unit: 'ticks/s' },
    { name: 'without aggregates', value: Math.round(rate('without')), unit: 'ticks/s' },
    { name: 'CPU with aggregates', value: rounded(cpu('with'), 2), unit: 's per million ticks' },
    { name: 'CPU without aggregates', value: rounded(cpu('without'), 2), unit: 's per million ticks' },
    {
      name: 'CPU with aggregates, compared with none',
      value: rounded(cpu('with') / cpu('without'), 3),
      unit: 'times',
      better: 'lower',
    },
  ];
}

async function measure(records: number, aggregates: boolean): Promise<Cost> {
  const rig = new WarehouseRig();
  try {
    await rig.start();
    if (!aggregates) {
      for (const view of ['price_states_of_ticks', 'price_blocks_of_ticks']) {
        await rig.connection.command(`DROP TABLE ${rig.settings.database}.${view}`);
      }
    }
    const bus = await rig.openBus('aggregates');
    try {
      const frames = new FrameSource();
      await fillOrderBook(bus, frames, records / 20, ENTRIES);
      await insertAll(rig, bus, records / 20);
      await fillOrderBook(bus, frames, records, ENTRIES);
      return await insertAll(rig, bus, records);
    } finally {
      await bus.close();
    }
  } finally {
    await rig.close();
  }
}

/** Starts a worker and waits until all records of the log are visible. */
async function insertAll(
  rig: WarehouseRig,
  bus: Awaited<ReturnType<WarehouseRig['openBus']>>,
  records: number,
): Promise<Cost> {
  const rows = records * ENTRIES;
  const before = await rig.count('price_ticks');
  const worker = rig.worker(bus, { keepBodies: false });
  const clock = new RateClock(rows);
  const cpu = () => cpuSeconds(process.pid) + cpuSeconds(rig.endpoint.pid);
  const cpuBefore = cpu();
  await worker.start(new AbortController().signal);
  for (;;) {
    const inserted = (await rig.count('price_ticks')) - before;
    clock.sample(inserted);
    if (inserted >= rows) break;
    await Promise.race([sleep(POLL_MS), worker.failed]);
  }
  const used = cpu() - cpuBefore;
  await worker.stop();
  return { cpuSecondsPerMillion: (used / rows) * 1e6, ticksPerSecond: clock.rowsPerSecond };
}
