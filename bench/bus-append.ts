import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedBus } from '../bus/index.js';
import type { BenchFigure } from './bench.js';
import { busFigures } from './bus-figures.js';

/** The embedded log alone (`busFigures`). */
export async function benchBusAppend(quick: boolean): Promise<BenchFigure[]> {
  const dir = await mkdtemp(join(tmpdir(), 'chancery-bench-bus-'));
  const bus = openEmbeddedBus({ dir });
  try {
    return await busFigures(bus, 'embedded log', { records: quick ? 50_000 : 1_000_000, trickle: quick ? 50 : 300 });
  } finally {
    await bus.close();
    await rm(dir, { recursive: true, force: true });
  }
}
