import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../core/index.js';
import { useDatabase } from '../support/database.js';
import { runAs } from '../support/run-as.js';
import { recordDay } from './cookbook-day.js';
import { WarehouseData } from './warehouse-data.js';

const PAGE = join(packageRoot(), 'docs/cookbook.md');
const QUESTION = /(### \d+\. .*\n(?:(?!```).*\n)*```sql\n)([^`]*)(```\n\n```text\n)([^`]*)(```)/g;
const host = useDatabase({ migrated: true });
const page = readFileSync(PAGE, 'utf8');

beforeAll(() => recordDay(new WarehouseData(host.database)));

/** As the reader sees it in a terminal, without colours. */
async function answer(query: string): Promise<string> {
  const { reader, name: database } = host.database;
  const settings = new URLSearchParams({
    database,
    output_format_pretty_color: '0',
    output_format_pretty_row_numbers: '0',
    output_format_pretty_single_large_number_tip_threshold: '0',
  });
  return runAs({ ...reader, url: `${reader.url}/?${settings}` }, `${query} FORMAT PrettyCompactMonoBlock`);
}

describe('docs/cookbook.md', () => {
  it('has 25 questions, with the answers that ClickHouse gives', async () => {
    const questions = [...page.matchAll(QUESTION)];
    expect(questions).toHaveLength(25);
    let answered = page;
    for (const [whole, head = '', query = '', between = '', , end = ''] of questions) {
      const text = await answer(query).catch((error: Error) => error.message);
      expect.soft(text, query).not.toMatch(/\bnan\b|\binf\b|Exception/);
      expect.soft(text.split('\n').length, query).toBeGreaterThan(3);
      answered = answered.replace(whole, () => head + query + between + text + end);
    }
    await expect(answered).toMatchFileSnapshot(PAGE);
  });
});
