import { openEmbeddedBus } from '../bus/index.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary-folder.js';
import type { BenchFigure } from './bench.js';
import { busFigures } from './bus-figures.js';

/** The embedded log alone (`busFigures`). */
export async function benchBusAppend(quick: boolean): Promise<BenchFigure[]> {
  const dir = temporaryFolder();
  const bus = openEmbeddedBus({ dir });
  try {
    return await busFigures(bus, 'embedded log', { records: quick ? 50_000 : 1_000_000, trickle: quick ? 50 : 300 });
  } finally {
    await bus.close();
    removeFolder(dir);
  }
}
