import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dashboardFolder, type ViewerServer } from '../../viewer/index.js';
import { loadDashboards, panelsOf } from '../dashboards/shipped-dashboards.js';
import { WarehouseData } from '../sql/warehouse-data.js';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { loaded, openPage } from './open-page.js';
import { GAP, MINUTES, recordHalfHour } from './recorded-half-hour.js';
import { startViewer } from './viewer-rig.js';

const host = useDatabase({ migrated: true });
/** Of the window: high enough for all panels of the longest dashboard. */
const HEIGHT = 4200;
const startedAt = Date.now();
let viewer: ViewerServer;
let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  const started = startChromium();
  await recordHalfHour(new WarehouseData(host.database));
  [browser, viewer] = await Promise.all([started, startViewer(host.database, dashboardFolder())]);
  ({ page, problems } = await openPage(browser, `${viewer.url}/`, { height: HEIGHT }));
});
afterAll(() => browser?.close());

describe('each dashboard', () => {
  it.each(loadDashboards())('is drawn in a browser: $title', async (dashboard) => {
    // Without refreshing: each panel asks once.
    await page.goto(`${viewer.url}/d/${dashboard.uid}?refresh=`);
    await loaded(page);
    const titles = await page.locator('.panel h2').allInnerTexts();
    expect(titles.length).toBeGreaterThanOrEqual(panelsOf(dashboard).length);
    expect(await page.locator('.failure:visible').allInnerTexts()).toEqual([]);
    expect(await page.locator('.panel .body:empty').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(problems).toEqual([]);
  });
});

it('the volume of all users is not 0 where their trades are not recorded', async () => {
  await page.goto(`${viewer.url}/d/chancery-volume?refresh=`);
  await loaded(page);
  const textOf = (id: number) => page.locator(`[data-panel="${id}"] .body`).innerText();
  expect(await textOf(1)).toBe(
    'No trade is recorded in this time. Without a recorded account none can be: volume and trades need an API key (--accounts-file)',
  );
  // No poll of its trades is complete.
  expect((await textOf(2)).split('\n')).toEqual([
    'Volume',
    '4 USDC',
    'Trades',
    '1',
    'Fees',
    '0.01 USDC',
    'Missing',
    '100.0%',
  ]);
});

it('the header says which part of the last hour was missing, of all streams', async () => {
  const state = page.locator('.state:text-matches("missing in the last hour")');
  const [, percent] = /(\d+\.\d)% missing in the last hour/.exec(await state.innerText()) ?? [];
  // Since the last heartbeat, both streams are missing.
  const missing = (passed: number) => (100 * (GAP.begins - GAP.ends + 2 * passed)) / (2 * (60 * MINUTES + passed));
  // Rounded up.
  expect(Number(percent)).toBeGreaterThanOrEqual(missing(0));
  expect(Number(percent)).toBeLessThanOrEqual(missing((Date.now() - startedAt) / 1000) + 0.1);
});
