import { describe, expect, it } from 'vitest';
import { BENCHES } from '../../bench/benches.js';
import { DATASETS_BENCH } from '../../bench/datasets/description.js';
import { LARGE_QUERIES_BENCH, QUERIES_BENCH } from '../../bench/queries/description.js';
import { readResults, renderResults } from '../../bench/results.js';

describe('docs/performance.md', () => {
  it('contains the results in bench/results/, of existing benchmarks only', async () => {
    const results = readResults();
    const known = new Set([...BENCHES.map(({ name }) => name), QUERIES_BENCH, LARGE_QUERIES_BENCH, DATASETS_BENCH]);
    expect(results.map(({ bench }) => bench).filter((name) => !known.has(name))).toEqual([]);
    await expect(renderResults(results)).toMatchFileSnapshot('../../docs/performance.md');
  });
});
