import { it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { assertFigures } from './random-sessions.js';

const host = useDatabase({ migrated: true });

/** `PROPERTY_RUNS=<whole number>` tries more. `test/chaos/random-sessions.test.ts` compares more views. */
const numRuns = Number(process.env['PROPERTY_RUNS'] ?? 1);

it('profit and loss by each method, settlements, refunds, curves and fields of positions of random sessions follow from the ledger', async () => {
  await assertFigures(
    host.database,
    [
      ...(['times of resolutions', 'profit by period', 'equity curves', 'account performance'] as const),
      ...(['profit by market', 'fields of positions'] as const),
    ],
    { sessions: 6, numRuns },
  );
});
