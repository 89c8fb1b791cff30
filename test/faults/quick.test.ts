import { describe, expect, it } from 'vitest';
import { chosenKinds } from './kinds.js';
import { QUICK_OCCURRENCES, QUICK_PACE } from './paces.js';
import { reportOf } from './report.js';
import { runFaults } from './run.js';

const SEED = 20_252;

describe('npm run faults -- --quick', () => {
  it('detects every fault that must be detected, duplicates no row, and explains every lost one', {
    timeout: 900_000,
  }, async () => {
    const kinds = chosenKinds(undefined);
    const result = await runFaults({ kinds, occurrences: QUICK_OCCURRENCES, seed: SEED, pace: QUICK_PACE });
    const report = reportOf(result, kinds, SEED);
    expect(report.failures).toEqual([]);
    expect(report.changes).toBeGreaterThan(100);
    const caused = kinds.filter(({ name }) => !result.unavailable.has(name));
    expect(caused.length).toBeGreaterThan(20);
    for (const { kind, occurrences } of report.kinds) {
      expect({ kind, occurrences }).toEqual({
        kind,
        occurrences: result.unavailable.has(kind) ? 0 : QUICK_OCCURRENCES,
      });
    }
  });
});
