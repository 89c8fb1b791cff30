import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SETTINGS } from '../../core/index.js';

const rows = SETTINGS.readerMaxRows.default;
const seconds = SETTINGS.readerMaxSeconds.default;

it('docs/sql.md has the default limits of the read-only user', () => {
  const page = readFileSync('docs/sql.md', 'utf8').replaceAll(/\s+/g, ' ');
  expect(page).toContain(`${rows.toLocaleString('en-US')} rows (\`--reader-max-rows\`)`);
  expect(page).toContain(`${seconds} seconds (\`--reader-max-seconds\`)`);
});

it('the read-only user of docker compose has the same limits', () => {
  const users = readFileSync('deploy/clickhouse/users.xml', 'utf8');
  expect(users).toContain(`<max_result_rows>${rows}</max_result_rows>`);
  expect(users).toContain(`<max_execution_time>${seconds}</max_execution_time>`);
});
