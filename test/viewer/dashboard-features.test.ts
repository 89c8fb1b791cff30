// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Grafana writes a variable.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ViewerServer } from '../../viewer/index.js';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { dashboard, folderOf, panel } from './dashboards.js';
import { loaded, openPage } from './open-page.js';
import { startViewer } from './viewer-rig.js';

const host = useDatabase({ migrated: true });
let browser: Browser;
let viewer: ViewerServer;

const RANGE = 'SELECT dateDiff(minute, $__fromTime, $__toTime) AS minutes, dateDiff(hour, $__toTime, now()) AS hours';
const inHours = (id: number, more: Record<string, unknown>) =>
  panel(id, 'table', RANGE, { gridPos: { x: 0, y: id * 4, w: 24, h: 4 }, ...more });
const custom = (name: string, query: string, more: Record<string, unknown> = {}) => ({
  type: 'custom',
  name,
  query,
  ...more,
});

const files = {
  'times.json': dashboard(
    'times',
    [
      inHours(1, {}),
      inHours(2, { timeFrom: '30m' }),
      inHours(3, { timeFrom: '2h', timeShift: '$shift' }),
      inHours(4, { timeShift: '1d', hideTimeOverride: true }),
      inHours(5, { timeFrom: 'now/d' }),
    ],
    { templating: { list: [custom('shift', '2d')] } },
  ),
};

beforeAll(async () => {
  [browser, viewer] = await Promise.all([startChromium(), startViewer(host.database, folderOf(files))]);
});
afterAll(() => browser?.close());

async function open(path: string): Promise<{ page: Page; problems: string[] }> {
  const { page, problems } = await openPage(browser, `${viewer.url}/d/${path}`);
  await page.setViewportSize({ width: 1440, height: 2400 });
  await loaded(page);
  return { page, problems };
}

const partOf = (page: Page, key: number | string, part: string) => page.locator(`[data-panel="${key}"] ${part}`);
const cellsOf = async (page: Page, key: number | string) =>
  (await partOf(page, key, 'tbody td').allInnerTexts()).map((text) => text.trim());

describe("a panel's own time", () => {
  it('is asked for, shown beside the title, and named where it is not supported', async () => {
    const { page } = await open('times');
    const cells = await Promise.all([1, 2, 3, 4].map((id) => cellsOf(page, id)));
    expect(cells).toEqual([
      ['60', '0'],
      ['30', '0'],
      ['120', '48'],
      ['60', '24'],
    ]);
    const notes = await Promise.all([1, 2, 3, 4].map((id) => partOf(page, id, '.note').innerText()));
    expect(notes).toEqual(['', 'Last 30 minutes', 'Last 2 hours, timeshift -2d', '']);
    expect(await partOf(page, 5, '.failure').innerText()).toContain('does not support timeFrom "now/d"');
    await page.context().close();
  });

  it('leaves an absolute time range as it is, but for the shift', async () => {
    const to = Math.floor(Date.now() / 1000) * 1000;
    const { page } = await open(`times?from=${to - 600_000}&to=${to}`);
    expect((await cellsOf(page, 2))[0]).toBe('10');
    expect(await partOf(page, 2, '.note').innerText()).toBe('');
    expect(await cellsOf(page, 3)).toEqual(['10', '48']);
    expect(await partOf(page, 3, '.note').innerText()).toBe('timeshift -2d');
    await page.context().close();
  });
});
