import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { expectSound, narrowInOtherTheme } from './accessibility.js';
import { folderOf } from './dashboards.js';
import { chartBox, columnsIn, loaded, openPage } from './open-page.js';
import { kindsDashboard } from './panel-kinds.js';
import { startViewer } from './viewer-rig.js';

const host = useDatabase({ migrated: true });
const BLUE = [0x00, 0xc8, 0xff] as const;
let browser: Browser;
/** The dashboard, in a window high enough for all of its panels. */
let page: Page;
let problems: string[];

beforeAll(async () => {
  const started = startViewer(host.database, folderOf({ 'kinds.json': kindsDashboard }));
  const [chromium, { url }] = await Promise.all([startChromium(), started]);
  browser = chromium;
  ({ page, problems } = await openPage(browser, `${url}/d/kinds`));
  await page.setViewportSize({ width: 1440, height: 3400 });
  await loaded(page);
});
afterAll(() => browser?.close());

const panelOf = (id: number) => page.locator(`[data-panel="${id}"]`);

/** The tooltip at a part of the width and height of a chart. */
async function tooltipAt(id: number, x: number, y: number): Promise<string> {
  const box = await chartBox(page, id);
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
  return page.locator('.tooltip:visible').innerText();
}

describe('each type of panel', () => {
  it('is drawn without an error', async () => {
    expect(await page.locator('.empty').allInnerTexts()).toEqual([]);
    expect(await page.locator('[data-panel] canvas').count()).toBe(8);
    await expectSound(page);
  });

  it.each([
    [1, 'state-timeline'],
    [2, 'heatmap'],
    [3, 'heatmap that counts'],
  ])('draws nothing where data is missing, and something everywhere else (panel %d: %s)', async (id) => {
    const drawn = await columnsIn(page, id, BLUE);
    const [first, last] = [drawn.indexOf(true), drawn.lastIndexOf(true)];
    const minutes = Array.from({ length: 60 }, (_, i) => drawn[Math.round(first + ((i + 0.5) * (last - first)) / 60)]);
    expect(minutes.flatMap((isDrawn, minute) => (isDrawn ? [] : [minute]))).toEqual([
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 45,
    ]);
    expect(await panelOf(id).locator('.legend').innerText()).toContain('missing');
    expect(await panelOf(id).locator('.note').innerText()).toBe('');
  });

  it('shows the values that it draws, in tooltips, as a table, and of a gauge as text', async () => {
    const tooltips = [
      await tooltipAt(1, 0.02, 0.25),
      await tooltipAt(2, 0.992, 0.25),
      await tooltipAt(4, 0.42, 0.5),
      await tooltipAt(5, 0.99, 0.5),
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
    await panelOf(4).hover();
    await panelOf(4).getByTitle('Show as table').click();
    expect(await page.locator('[data-panel="4"] tbody tr').allInnerTexts()).toEqual(
      [0, 1, 2, 3, 4, 5].map((i) => `name ${i}\t${i}\t${6 - i}`),
    );
    await expectSound(page);
    await panelOf(4).getByTitle('Show as table').click();
  });

  it('shows the data after the transformations of the panel', async () => {
    expect(await page.locator('[data-panel="10"] thead th').allInnerTexts()).toEqual(['ask', 'market', 'Bid']);
    expect(await page.locator('[data-panel="10"] tbody tr').allInnerTexts()).toEqual([
      '13 Trades of m3\tm3\t–',
      '12 Trades of m2\tm2\t2',
      '11 Trades of m1\tm1\t1',
      '– Trades of m0\tm0\t0',
    ]);
  });

  it('has every data link of a value: the first as the value, the others after it', async () => {
    const links = await page.locator('[data-panel="10"] tbody tr').first().locator('a').all();
    expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual([
      expect.stringMatching(/\/d\/quotes\?of=m3$/),
      expect.stringMatching(/\/d\/trades$/),
    ]);
    expect(await links[0]?.getAttribute('title')).toBe('Quotes');
  });

  it('hides what its legend switches off', async () => {
    const orange = [0xe6, 0x9f, 0x00] as const;
    expect(await columnsIn(page, 4, orange)).toContain(true);
    await panelOf(4).getByRole('button', { name: 'b', exact: true }).click();
    expect(await columnsIn(page, 4, orange)).not.toContain(true);
  });

  it('shows all points of a row in the tooltip of one, which may hide another', async () => {
    const tooltip = (await tooltipAt(9, 0.953, 0.08)).split('\n').slice(1);
    expect(tooltip.filter((text) => text === 'a' || text === 'b')).toEqual(['a', 'b']);
  });

  it('names the options that it does not draw', async () => {
    expect(await panelOf(9).locator('.note').innerText()).toBe('without a logarithmic axis, lines between points');
  });

  it('is drawn at 360 pixels and in the light theme, without an error and without sideways scrolling', async () => {
    await narrowInOtherTheme(page);
    await loaded(page);
    await expectSound(page);
    expect(problems).toEqual([]);
  });
});
