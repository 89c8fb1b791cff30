import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ViewerServer } from '../../viewer/index.js';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { folderOf } from './dashboards.js';
import { columnsIn, loaded, openPage } from './open-page.js';
import { kindsDashboard } from './panel-kinds.js';
import { startViewer } from './viewer-rig.js';

const host = useDatabase({ migrated: true });
const BLUE = [0x00, 0xc8, 0xff] as const;
let browser: Browser;
let viewer: ViewerServer;

beforeAll(async () => {
  [browser, viewer] = await Promise.all([
    startChromium(),
    startViewer(host.database, folderOf({ 'kinds.json': kindsDashboard })),
  ]);
});
afterAll(() => browser?.close());

/** The dashboard, high enough for all of its panels. */
async function open(options: { width: number; colorScheme?: 'dark' | 'light' }) {
  const { page, problems } = await openPage(browser, `${viewer.url}/d/kinds`, options);
  await page.setViewportSize({ width: options.width, height: 3400 });
  await loaded(page);
  return { page, problems };
}

const panelOf = (page: Page, id: number) => page.locator(`[data-panel="${id}"]`);

/** The tooltip at a part of the width and height of a chart. */
async function tooltipAt(page: Page, id: number, x: number, y: number): Promise<string> {
  const box = await panelOf(page, id).locator('.u-over').boundingBox();
  if (!box) throw new Error('there is no chart');
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
  return page.locator('.tooltip:visible').innerText();
}

describe('each type of panel', () => {
  it.each([
    [1440, 'dark'],
    [360, 'light'],
  ] as const)(
    'is drawn at %d pixels, %s, without an error and without sideways scrolling',
    async (width, colorScheme) => {
      const { page, problems } = await open({ width, colorScheme });
      expect(await page.locator('.failure:visible, .empty').allInnerTexts()).toEqual([]);
      expect(await page.locator('[data-panel] canvas').count()).toBe(8);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  it.each([
    [1, 'state-timeline'],
    [2, 'heatmap'],
    [3, 'heatmap that counts'],
  ])('draws nothing where data is missing, and something everywhere else (panel %d: %s)', async (id) => {
    const { page } = await open({ width: 1440 });
    const drawn = await columnsIn(page, id, BLUE);
    const [first, last] = [drawn.indexOf(true), drawn.lastIndexOf(true)];
    const minutes = Array.from({ length: 60 }, (_, i) => drawn[Math.round(first + ((i + 0.5) * (last - first)) / 60)]);
    expect(minutes.flatMap((isDrawn, minute) => (isDrawn ? [] : [minute]))).toEqual([
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 45,
    ]);
    expect(await panelOf(page, id).locator('.legend').innerText()).toContain('missing');
    expect(await panelOf(page, id).locator('.note').innerText()).toBe('');
    await page.context().close();
  });

  it('shows the values that it draws, in tooltips, as a table, and of a gauge as text', async () => {
    const { page } = await open({ width: 1440 });
    const tooltips = [
      await tooltipAt(page, 1, 0.02, 0.25),
      await tooltipAt(page, 2, 0.992, 0.25),
      await tooltipAt(page, 4, 0.42, 0.5),
      await tooltipAt(page, 5, 0.99, 0.5),
    ];
    expect(tooltips.map((text) => text.split('\n').slice(1).join(' '))).toEqual([
      'state 0',
      'second 0.963',
      'a 2 b 4',
      'value 29',
    ]);
    expect(tooltips.slice(2).map((text) => text.split('\n')[0])).toEqual(['name 2', '16 to 17']);
    const dials = await page.locator('[data-panel="7"] svg').all();
    expect(await Promise.all(dials.map((dial) => dial.getAttribute('aria-label')))).toEqual(['used: 62%', 'full: 93%']);
    await panelOf(page, 4).hover();
    await panelOf(page, 4).getByTitle('Show as table').click();
    expect(await page.locator('[data-panel="4"] tbody tr').allInnerTexts()).toEqual(
      [0, 1, 2, 3, 4, 5].map((i) => `name ${i}\t${i}\t${6 - i}`),
    );
    await page.context().close();
  });

  it('shows the data after the transformations of the panel', async () => {
    const { page } = await open({ width: 1440 });
    expect(await page.locator('[data-panel="10"] thead th').allInnerTexts()).toEqual(['ask', 'market', 'Bid']);
    expect(await page.locator('[data-panel="10"] tbody tr').allInnerTexts()).toEqual([
      '13\tm3\t–',
      '12\tm2\t2',
      '11\tm1\t1',
      '–\tm0\t0',
    ]);
    await page.context().close();
  });

  it('hides what its legend switches off', async () => {
    const { page } = await open({ width: 1440 });
    const orange = [0xe6, 0x9f, 0x00] as const;
    expect(await columnsIn(page, 4, orange)).toContain(true);
    await panelOf(page, 4).getByRole('button', { name: 'b', exact: true }).click();
    expect(await columnsIn(page, 4, orange)).not.toContain(true);
    await page.context().close();
  });

  it('names the options that it does not draw', async () => {
    const { page } = await open({ width: 1440 });
    expect(await panelOf(page, 9).locator('.note').innerText()).toBe(
      'without a logarithmic axis, lines between points',
    );
    await page.context().close();
  });
});
