import { setTimeout as delay } from 'node:timers/promises';
import pixelmatch from 'pixelmatch';
import type { Browser, Page } from 'playwright-core';
import { dashboard, folderOf, panel } from '../../test/viewer/dashboards.js';
import { loaded, openPage } from '../../test/viewer/open-page.js';
import type { BenchFigure } from '../bench.js';
import { median } from '../results.js';
import { marketOf, TICKS_FROM_MS, TICKS_TO_MS, type ViewerRig } from './rig.js';
import { LONG_PATHS, UndecimatedViewer } from './undecimated.js';

const REFRESHES = 5;
/** Equal questions within a second are answered with the former result. */
const NEXT_RESULT_MS = 1100;

const dashboardOf = (ticks: number) =>
  dashboard(`ticks-${ticks}`, [
    panel(
      1,
      'timeseries',
      `SELECT received_at AS time, last AS price FROM price_ticks WHERE market = '${marketOf(ticks)}' AND $__timeFilter(received_at) ORDER BY time`,
      {
        options: { legend: { showLegend: false } },
        fieldConfig: { defaults: { color: { mode: 'fixed', fixedColor: '#56b4e9' } }, overrides: [] },
      },
    ),
  ]);

const REFRESHED = `new Promise((resolve) => {
  const panel = document.querySelector('[data-panel="1"]');
  const started = performance.now();
  let asked = false;
  new MutationObserver((_, observer) => {
    if (panel.ariaBusy === 'true') asked = true;
    else if (asked) {
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)));
    }
  }).observe(panel, { attributeFilter: ['aria-busy'] });
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'r' }));
})`;

const PIXELS = `(() => {
  const canvas = document.querySelector('[data-panel="1"] canvas');
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  let text = '';
  for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
  return { width, height, data: btoa(text) };
})()`;

interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: string;
}

/** Ticks of one market, from pressing the refresh key to the drawn chart, and how the chart differs from one of all ticks. */
export async function measureTicks(rig: ViewerRig, browser: Browser, ticks: number): Promise<BenchFigure[]> {
  await rig.addTicks(ticks);
  const viewer = await rig.view(folderOf({ 'ticks.json': dashboardOf(ticks) }));
  const path = `/d/ticks-${ticks}?from=${TICKS_FROM_MS}&to=${TICKS_TO_MS}&viewPanel=1`;
  const { page, bytes, openedMs } = await open(browser, viewer.url + path);
  const times: number[] = [];
  while (times.length < REFRESHES) {
    await delay(NEXT_RESULT_MS);
    times.push(await page.evaluate<number>(REFRESHED));
  }
  const reduced = await page.evaluate<Pixels>(PIXELS);
  await page.context().close();
  const whole = await wholeOf(rig, browser, { url: viewer.url, path, ticks });
  const [a, b] = [reduced, whole].map(({ data }) => new Uint8Array(Buffer.from(data, 'base64')));
  if (!a || !b || reduced.width !== whole.width) throw new Error('the two drawings have different sizes');
  const differing = pixelmatch(a, b, undefined, whole.width, whole.height);
  const name = `${ticks.toLocaleString('en-US')} ticks of one market`;
  return [
    { name: `${name}, opened`, value: Math.round(openedMs), unit: 'ms' },
    { name: `${name}, refreshed`, value: Math.round(median(times)), unit: 'ms' },
    { name: `${name}, data sent`, value: Math.round(bytes / 100) / 10, unit: 'kB' },
    {
      name: `${name}, pixels that differ from a drawing of all`,
      value: Math.round((differing / (whole.width * whole.height)) * 1e6) / 1e4,
      unit: '%',
    },
  ];
}

interface Opened {
  readonly page: Page;
  readonly bytes: number;
  readonly openedMs: number;
}

/** The page, when its chart is drawn, the bytes of its data, and the time from entering its address. */
async function open(browser: Browser, url: string, script = ''): Promise<Opened> {
  const { page } = await openPage(browser, 'about:blank');
  let bytes = 0;
  page.on('response', async (response) => {
    if (response.url().endsWith('/data')) bytes = Number((await response.allHeaders())['content-length'] ?? 0);
  });
  await page.addInitScript(script);
  const began = performance.now();
  await page.goto(url);
  await page.locator('.panel').first().waitFor();
  await loaded(page);
  await page.locator('[data-panel="1"] canvas').waitFor();
  return { page, bytes, openedMs: performance.now() - began };
}

async function wholeOf(
  rig: ViewerRig,
  browser: Browser,
  { url, path, ticks }: { url: string; path: string; ticks: number },
): Promise<Pixels> {
  const undecimated = new UndecimatedViewer(url, await rig.ticksOf(ticks));
  try {
    const { page } = await open(browser, (await undecimated.start()) + path, LONG_PATHS);
    const pixels = await page.evaluate<Pixels>(PIXELS);
    await page.context().close();
    return pixels;
  } finally {
    undecimated.stop();
  }
}
