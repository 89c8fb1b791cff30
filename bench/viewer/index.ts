import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { packageRoot } from '../../core/index.js';
import { loadDashboards } from '../../test/dashboards/shipped-dashboards.js';
import { startChromium } from '../../test/support/chromium.js';
import { loaded, openPage } from '../../test/viewer/open-page.js';
import { SEEDED_NOW_MS } from '../../test/viewer/seeded-market.js';
import { dashboardFolder } from '../../viewer/index.js';
import type { BenchFigure } from '../bench.js';
import { ViewerRig } from './rig.js';
import { measureTicks } from './ticks.js';
import { measureViewers } from './viewers.js';

export const TICKS = [1_000_000, 5_000_000];
const QUICK_TICKS = [100_000];
export const VIEWERS = 200;
const QUICK_VIEWERS = 20;
export const WIDTH = 1440;
/** High enough for every panel of every dashboard. */
const HEIGHT = 5000;
const FIRST_VIEW = ['app.js', 'stream-worker.js', 'app.css'];

export async function benchViewer(quick: boolean): Promise<BenchFigure[]> {
  const rig = new ViewerRig();
  let browser: Browser | undefined;
  try {
    await rig.start();
    browser = await startChromium();
    const viewer = await rig.view(dashboardFolder());
    const figures = [pageSize(), ...(await measurePages(browser, viewer.url))];
    for (const ticks of quick ? QUICK_TICKS : TICKS) figures.push(...(await measureTicks(rig, browser, ticks)));
    figures.push(...(await measureViewers(rig, quick ? QUICK_VIEWERS : VIEWERS)));
    return figures;
  } finally {
    await browser?.close();
    await rig.close();
  }
}

function pageSize(): BenchFigure {
  const folder = join(packageRoot(), 'dist/viewer/page');
  const bytes = FIRST_VIEW.map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length);
  const value = Math.round(bytes.reduce((sum, one) => sum + one, 0) / 100) / 10;
  return { name: 'script and style of the first view, gzip -9', value, unit: 'kB' };
}

async function measurePages(browser: Browser, url: string): Promise<BenchFigure[]> {
  const { page: first } = await openPage(browser, url, { width: WIDTH });
  await first.locator('.home tbody tr').first().waitFor();
  const paintedMs = await first.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime");
  await first.context().close();

  const [largest] = loadDashboards().toSorted((a, b) => b.panels.length - a.panels.length);
  if (!largest) throw new Error('there is no dashboard');
  const range = `from=${SEEDED_NOW_MS - 30 * 60_000}&to=${SEEDED_NOW_MS}`;
  const { page } = await openPage(browser, 'about:blank', { width: WIDTH, height: HEIGHT });
  const began = performance.now();
  await page.goto(`${url}/d/${largest.uid}?${range}`);
  await loaded(page);
  const drawnMs = performance.now() - began;
  const debug = await page.context().newCDPSession(page);
  await debug.send('HeapProfiler.collectGarbage');
  const { usedSize } = await debug.send('Runtime.getHeapUsage');
  await page.context().close();
  return [
    { name: 'first paint of the first page', value: Math.round(paintedMs), unit: 'ms' },
    { name: `all panels of the largest dashboard (${largest.title})`, value: Math.round(drawnMs), unit: 'ms' },
    { name: 'heap of that page', value: Math.round(usedSize / 1e5) / 10, unit: 'MB' },
  ];
}
