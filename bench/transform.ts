import type { EmbeddedBus } from '../bus/index.js';
import type { BenchFigure } from './bench.js';
import { FrameSource, fillOrderBook } from './frames.js';
import { cpuSeconds } from './process-usage.js';
import { visibleRowsPerSecond } from './visible-rows.js';
import { WarehouseRig } from './warehouse-rig.js';

export interface Load {
  readonly name: string;
  /** Entries of a frame. */
  readonly entries: number;
  readonly records: number;
  readonly keepBodies: boolean;
}

/** Frames with one entry and with ten, with raw bodies and without. */
export function transformLoads(quick: boolean): Load[] {
  const [single, ten] = quick ? [30_000, 6_000] : [2_000_000, 500_000];
  return [
    { name: 'single-entry frames, bodies off', entries: 1, records: single, keepBodies: false },
    { name: '10-entry frames, bodies off', entries: 10, records: ten, keepBodies: false },
    { name: 'single-entry frames, bodies on', entries: 1, records: single, keepBodies: true },
    { name: '10-entry frames, bodies on', entries: 10, records: ten, keepBodies: true },
  ];
}

/**
 * Order book records in the embedded log until a query returns their rows: transforms, the exactly-once protocol, fsync on.
 * A smaller run before warms up the code.
 */
export async function benchTransform(quick: boolean): Promise<BenchFigure[]> {
  const rig = new WarehouseRig();
  const figures: BenchFigure[] = [];
  try {
    await rig.start();
    const frames = new FrameSource();
    for (const load of transformLoads(quick)) {
      const { ticksPerSecond } = await measureLoad(rig, frames, load);
      figures.push({ name: load.name, value: ticksPerSecond, unit: 'ticks/s' });
    }
  } finally {
    await rig.close();
  }
  return figures;
}

export interface LoadRate {
  readonly ticksPerSecond: number;
  /** CPU time of worker and ClickHouse. */
  readonly cpuSecondsPerMillion: number;
}

/** Inserts the records of a load from a new log; fewer before, to warm up the code. */
export async function measureLoad(rig: WarehouseRig, frames: FrameSource, load: Load): Promise<LoadRate> {
  const bus = await rig.openBus(load.name.replace(/\W+/g, '-'));
  try {
    await fillOrderBook(bus, frames, load.records / 20, load.entries);
    await insertAll(rig, bus, load, load.records / 20);
    await fillOrderBook(bus, frames, load.records, load.entries);
    return await insertAll(rig, bus, load, load.records);
  } finally {
    await bus.close();
  }
}

/** Starts a worker and waits until all records of the log are visible. */
async function insertAll(rig: WarehouseRig, bus: EmbeddedBus, load: Load, records: number): Promise<LoadRate> {
  const { keepBodies, entries } = load;
  const [ticks, raw] = await Promise.all([rig.count('price_ticks'), rig.count('raw_records')]);
  const worker = rig.worker(bus, { keepBodies });
  const cpu = () => cpuSeconds(process.pid) + cpuSeconds(rig.endpoint.pid);
  const cpuBefore = cpu();
  // Of both tables: which of them a batch reaches first says nothing about the rate.
  const visible = async () => {
    const [ticksNow, rawNow] = await Promise.all([rig.count('price_ticks'), rig.count('raw_records')]);
    return Math.min(ticksNow - ticks, (rawNow - raw) * entries);
  };
  const start = () => worker.start(new AbortController().signal);
  const ticksPerSecond = await Promise.race([visibleRowsPerSecond(records * entries, start, visible), worker.failed]);
  const used = cpu() - cpuBefore;
  await worker.stop();
  return { ticksPerSecond, cpuSecondsPerMillion: (used / (records * entries)) * 1e6 };
}
