import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { coverageTable, showingTests } from './coverage.js';
import { STATEMENTS } from './statements.js';

const tests = showingTests();
const ids = STATEMENTS.map(({ id }) => id);

describe('every statement of the interface', () => {
  it('has a number of its own', () => {
    expect(ids.length).toBe(new Set(ids).size);
  });

  it('is shown by a test', () => {
    const shown = new Set(tests.flatMap(({ shows }) => shows));
    expect(ids.filter((id) => !shown.has(id))).toEqual([]);
  });

  it('that a test names exists', () => {
    const unknown = tests.flatMap(({ file, title, shows }) =>
      shows.filter((id) => !ids.includes(id)).map((id) => `${id} in ${file}: ${title}`),
    );
    expect(unknown).toEqual([]);
  });

  it('is implemented in files that exist', () => {
    const files = STATEMENTS.flatMap(({ client, exchange }) => [...client, ...exchange]);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('is a row of docs/interface-coverage.md', async () => {
    await expect(coverageTable(STATEMENTS, tests)).toMatchFileSnapshot('../../docs/interface-coverage.md');
  });
});
