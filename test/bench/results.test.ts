import { describe, expect, it } from 'vitest';
import { BENCHES } from '../../bench/benches.js';
import { readResults, renderResults } from '../../bench/results.js';

describe('docs/performance.md', () => {
  it('says what bench/results/ holds, of benchmarks that there are', async () => {
    const results = readResults();
    const known = new Set(BENCHES.map(({ name }) => name));
    expect(results.map(({ bench }) => bench).filter((name) => !known.has(name))).toEqual([]);
    await expect(renderResults(results)).toMatchFileSnapshot('../../docs/performance.md');
  });
});
