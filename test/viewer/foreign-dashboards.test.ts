import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../core/index.js';
import type { ViewerServer } from '../../viewer/index.js';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { EXPECTED } from './foreign/expected.js';
import { TABLES } from './foreign/tables.js';
import { loaded, openPage } from './open-page.js';
import { startViewer } from './viewer-rig.js';

const host = useDatabase({ migrated: true });
let browser: Browser;
let viewer: ViewerServer;

beforeAll(async () => {
  for (const statement of TABLES) await host.database.run(statement);
  const folder = join(packageRoot(), 'test/viewer/foreign');
  [browser, viewer] = await Promise.all([startChromium(), startViewer(host.database, folder)]);
});
afterAll(() => browser?.close());

/** The texts of a panel's values by row, or why it has none. */
type Drawn = readonly (readonly string[])[] | string;

const READ = `(() => {
  const texts = (within, selector) => [...within.querySelectorAll(selector)].map((one) => one.innerText.trim());
  const read = (body) => {
    if (body.querySelector('.empty, .failure')) return body.innerText;
    const dials = [...body.querySelectorAll('.dial svg')].map((dial) => dial.getAttribute('aria-label').replace(/^.*: /, ''));
    if (dials.length > 0) return [dials];
    if (body.querySelector('.tile')) return [texts(body, '.tile .value')];
    const cells = body.querySelector('.bars') ? 'td.number' : 'td';
    if (body.querySelector('tbody')) return [...body.querySelectorAll('tbody tr')].map((row) => texts(row, cells));
    return [[body.innerText]];
  };
  return Object.fromEntries(
    [...document.querySelectorAll('[data-panel]')].map((one) => [one.dataset.panel, read(one.querySelector('.body'))]),
  );
})()`;

/** What the panels of a dashboard draw; charts as tables. */
async function drawn(page: Page): Promise<Record<string, Drawn>> {
  const keys = await page.evaluate<string[]>(
    "[...document.querySelectorAll('.panel:has(canvas)')].map((one) => one.dataset.panel)",
  );
  for (const key of keys) {
    const chart = page.locator(`[data-panel="${key}"]`);
    await chart.hover();
    await chart.getByTitle('Show as table').click();
  }
  return page.evaluate(READ);
}

/** Whether a text shows a value: a number rounded to the digits of the text, whatever its unit. */
function shows(text: string, value: unknown): boolean {
  if (value === null) return text === '–';
  if (typeof value !== 'number') return text === value;
  const [digits = ''] = /^-?[\d,]+(?:\.\d+)?/.exec(text) ?? [];
  const decimals = digits.split('.')[1]?.length ?? 0;
  return digits !== '' && Math.abs(Number(digits.replaceAll(',', '')) - value) <= 0.5001 * 10 ** -decimals;
}

/** The rows of a panel that are not those of ClickHouse. */
function differences(rows: Drawn, expected: readonly (readonly unknown[])[]): unknown[] {
  if (typeof rows === 'string') return [rows];
  const wrong = rows.flatMap((row, i) => {
    const values = expected[i] ?? [];
    const isSame = row.length === values.length && row.every((text, column) => shows(text, values[column]));
    return isSame ? [] : [{ row, values }];
  });
  return rows.length === expected.length
    ? wrong
    : [`${rows.length} rows, not ${expected.length}`, ...wrong.slice(0, 3)];
}

describe('a dashboard for the ClickHouse data source of Grafana', () => {
  it.each(Object.entries(EXPECTED))(
    '%s shows what ClickHouse returns, and names what it cannot',
    async (uid, panels) => {
      const { page, problems } = await openPage(browser, `${viewer.url}/d/${uid}`);
      await page.setViewportSize({ width: 1440, height: 4000 });
      await loaded(page);
      const shown = await drawn(page);
      expect(Object.keys(shown).sort()).toEqual(Object.keys(panels).sort());
      for (const [key, expected] of Object.entries(panels)) {
        const text = shown[key] ?? '';
        if (typeof expected !== 'string') {
          expect(text, key).toBe(`The viewer does not support ${expected.missing}.`);
          continue;
        }
        const rows = await host.database.rows(expected);
        expect(rows.length, key).toBeGreaterThan(0);
        expect(differences(text, rows.map(Object.values)), `panel ${key}`).toEqual([]);
      }
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  it('draws at least 80% of its panels', () => {
    const panels = Object.values(EXPECTED).flatMap((one) => Object.values(one));
    const drawnPanels = panels.filter((expected) => typeof expected === 'string');
    expect(Object.keys(EXPECTED)).toHaveLength(10);
    expect(drawnPanels.length / panels.length).toBeGreaterThan(0.8);
  });
});
