import type { BenchFigure } from './bench.js';
import { FrameSource } from './frames.js';
import { type LoadRate, measureLoad, transformLoads } from './transform.js';
import { WarehouseRig } from './warehouse-rig.js';

/**
 * What the aggregates of ticks (price_states, price_blocks, and through them price_hours and price_days) cost while ticks are
 * inserted: the loads of `transform` with them, and without the materialized views that feed them.
 */
export async function benchAggregates(quick: boolean): Promise<BenchFigure[]> {
  const loads = transformLoads(quick);
  const without = await measureAll(quick, false);
  const withAggregates = await measureAll(quick, true);
  return loads.flatMap(({ name }, index) => {
    const before = without[index];
    const after = withAggregates[index];
    if (!before || !after) throw new RangeError(`no measurement of ${name}`);
    const change = (pick: (rate: LoadRate) => number) => Number((100 * (pick(after) / pick(before) - 1)).toFixed(1));
    return [
      { name, value: after.ticksPerSecond, unit: 'ticks/s' },
      { name: `${name}, without aggregates`, value: before.ticksPerSecond, unit: 'ticks/s' },
      {
        name: `${name}, change by the aggregates`,
        value: change((rate) => rate.ticksPerSecond),
        unit: '%',
        better: 'higher',
      },
      {
        name: `${name}, change of CPU time`,
        value: change((rate) => rate.cpuSecondsPerMillion),
        unit: '%',
        better: 'lower',
      },
    ];
  });
}

async function measureAll(quick: boolean, aggregates: boolean): Promise<LoadRate[]> {
  const rig = new WarehouseRig();
  try {
    await rig.start();
    if (!aggregates) await dropAggregates(rig);
    const frames = new FrameSource();
    const rates: LoadRate[] = [];
    for (const load of transformLoads(quick)) rates.push(await measureLoad(rig, frames, load));
    return rates;
  } finally {
    await rig.close();
  }
}

/** What is left of their cost is that the worker finds the first and last ticks of a batch. */
async function dropAggregates({ connection, settings }: WarehouseRig): Promise<void> {
  for (const table of ['price_states', 'price_blocks']) {
    for (const source of ['ticks', 'ends']) {
      await connection.command(`DROP TABLE ${settings.database}.${table}_of_${source}`);
    }
  }
  const insert = connection.insert.bind(connection);
  connection.insert = async (block, request) => {
    if (block.table.name !== 'price_ends') await insert(block, request);
  };
}
