import { it } from 'vitest';
import { assertFigures } from '../sql/random-sessions.js';
import { useDatabase } from '../support/database.js';

const host = useDatabase({ migrated: true });

/** `PROPERTY_RUNS=<whole number>` tries more. */
const numRuns = Number(process.env['PROPERTY_RUNS'] ?? 2);

it('every sum of profit and loss, at each price, balances, movers and times of arbitrage of random sessions follow from the ledger', async () => {
  await assertFigures(
    host.database,
    [
      ...(['times of resolutions', 'profit by period', 'equity curves', 'account performance'] as const),
      ...(['profit by market', 'profit by event', 'profit at mid', 'open interest'] as const),
      ...(['zero-sum by market at chance', 'zero-sum by market at mid', 'zero-sum by market at bid'] as const),
      ...(['profit by market at bid', 'profit by account at mid', 'reconciled balances'] as const),
      ...(['fields of positions', 'movers', 'times of arbitrage'] as const),
    ],
    { sessions: 12, numRuns },
  );
});
