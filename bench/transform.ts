import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedBus } from '../bus/index.js';
import type { BenchFigure } from './bench.js';
import { FrameSource, fillOrderBook } from './frames.js';
import { POLL_MS, RateClock } from './rate-clock.js';
import { WarehouseRig } from './warehouse-rig.js';

interface Load {
  readonly name: string;
  readonly entries: number;
  readonly records: number;
  readonly keepBodies: boolean;
}

/**
 * Order book records in the embedded log until a query returns their rows: transforms, the exactly-once protocol, fsync on.
 * A smaller run before warms up the code.
 */
export async function benchTransform(quick: boolean): Promise<BenchFigure[]> {
  const [single, ten] = quick ? [30_000, 6_000] : [2_000_000, 500_000];
  const loads: Load[] = [
    { name: 'single-entry frames, bodies off', entries: 1, records: single, keepBodies: false },
    { name: '10-entry frames, bodies off', entries: 10, records: ten, keepBodies: false },
    { name: 'single-entry frames, bodies on', entries: 1, records: single, keepBodies: true },
    { name: '10-entry frames, bodies on', entries: 10, records: ten, keepBodies: true },
  ];
  const rig = new WarehouseRig();
  const figures: BenchFigure[] = [];
  try {
    await rig.start();
    const frames = new FrameSource();
    for (const load of loads) {
      const bus = await rig.openBus(load.name.replace(/\W+/g, '-'));
      try {
        await fillOrderBook(bus, frames, load.records / 20, load.entries);
        await measure(rig, bus, load, load.records / 20);
        await fillOrderBook(bus, frames, load.records, load.entries);
        figures.push({ name: load.name, value: await measure(rig, bus, load, load.records), unit: 'ticks/s' });
      } finally {
        await bus.close();
      }
    }
  } finally {
    await rig.close();
  }
  return figures;
}

/** Starts a worker, waits until all records of the log are visible, and returns the ticks per second. */
async function measure(rig: WarehouseRig, bus: EmbeddedBus, load: Load, records: number): Promise<number> {
  const { keepBodies, entries } = load;
  const [ticks, raw] = await Promise.all([rig.count('price_ticks'), rig.count('raw_records')]);
  const worker = rig.worker(bus, { keepBodies });
  const clock = new RateClock(records * entries);
  await worker.start(new AbortController().signal);
  for (;;) {
    const rows = (await rig.count('price_ticks')) - ticks;
    clock.sample(rows);
    if (rows >= records * entries) break;
    await Promise.race([sleep(POLL_MS), worker.failed]);
  }
  while ((await rig.count('raw_records')) < raw + records) await sleep(POLL_MS);
  await worker.stop();
  return clock.rowsPerSecond;
}
