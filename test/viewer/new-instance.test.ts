import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dashboardFolder, type ViewerServer } from '../../viewer/index.js';
import { migrate } from '../../warehouse/index.js';
import { ago, collectorEvent, eventSeen, searchPoll, WarehouseData } from '../sql/warehouse-data.js';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { accessibilityProblems } from './axe.js';
import { openPage } from './open-page.js';
import { connectAs, startViewer } from './viewer-rig.js';

const host = useDatabase({ migrated: false });
let browser: Awaited<ReturnType<typeof startChromium>>;
let viewer: ViewerServer;
let page: Page;
let isRunning = false;

beforeAll(async () => {
  const connect = async () => (isRunning ? connectAs(host.database, 'reader')() : undefined);
  [browser, viewer] = await Promise.all([startChromium(), startViewer(host.database, dashboardFolder(), { connect })]);
  page = (await openPage(browser, viewer.url)).page;
});
afterAll(() => browser?.close());

const region = (name: string) => page.getByRole('region', { name });
const header = () => page.locator('.state').innerText();

/** Every part of the page has a text, and axe-core finds nothing. */
async function expectTexts(): Promise<void> {
  for (const name of ['Events', 'Largest moves of the last 24 hours'])
    expect(await region(name).locator('.scroll').innerText()).not.toBe('');
  expect(await region('Dashboards').innerText()).toContain('Market overview');
  expect(await accessibilityProblems(page)).toEqual([]);
}

// One page, from the start of a new instance on, without a reload.
describe('the first page of a new instance', () => {
  it('says that ClickHouse is not running', async () => {
    await region('Events').getByText('not available: ClickHouse is not running').waitFor();
    await region('Largest moves').getByText('not available: ClickHouse is not running').waitFor();
    await expect.poll(header).toContain('ClickHouse is not running');
    await expectTexts();
  });

  it('says that there are no tables yet', async () => {
    isRunning = true;
    await region('Events').getByText('not available: ClickHouse has no tables of Chancery yet').waitFor();
    await expect.poll(header).toContain('no tables of Chancery yet');
    await expectTexts();
  });

  it('says that nothing is recorded yet, on every list and in the header', async () => {
    const connection = host.database.connect();
    await migrate(connection, { fsync: false }, new AbortController().signal);
    await connection.close();
    const nothing = region('Events').getByText('nothing is recorded yet; events appear here within seconds');
    await nothing.waitFor();
    await region('Largest moves').getByText('no price is recorded yet').waitFor();
    await expect.poll(header).toBe('nothing is recorded yet');
    expect(await page.locator('.state').getAttribute('data-level')).toBe('none');
    expect(await page.getByRole('alert').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Resolved' }).click();
    await nothing.waitFor();
    await page.getByRole('button', { name: 'Open' }).click();
    await expectTexts();
  });

  it('shows the first event soon after it is recorded, and that recording runs', async () => {
    const data = new WarehouseData(host.database);
    await data.insert('event_observations', [eventSeen('rain', ago(2), { title: 'Will it rain?', markets: ['yes'] })]);
    await data.insert('polls', [searchPoll(ago(3))]);
    await data.insert('collector_events', [collectorEvent('session', 1, ago(0), 'heartbeat')]);
    const startedAt = performance.now();
    await region('Events').getByText('Will it rain?').waitFor();
    expect(performance.now() - startedAt).toBeLessThan(8000);
    await expect.poll(header).toMatch(/^recording/);
    await region('Largest moves').getByText('no price has changed in 24 hours').waitFor();
    await page.getByRole('button', { name: 'Resolved' }).click();
    await region('Events').getByText('no event is resolved yet').waitFor();
    await expectTexts();
  });
});
