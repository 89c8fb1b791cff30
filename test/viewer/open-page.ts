import type { Browser, Page } from 'playwright-core';
import { until } from '../support/until.js';

interface Opened {
  readonly page: Page;
  /** What went wrong in the page. */
  readonly problems: string[];
}

/**
 * Opens a page of the viewer in a context of its own.
 * @param options `atMs`: what the page takes for now, Unix milliseconds
 */
export async function openPage(
  browser: Browser,
  url: string,
  options: { width?: number; height?: number; colorScheme?: 'dark' | 'light'; atMs?: number; isPhone?: boolean } = {},
): Promise<Opened> {
  const { width = 1440, height = 900, colorScheme = 'dark', atMs, isPhone = false } = options;
  const touch = { hasTouch: isPhone, isMobile: isPhone };
  const context = await browser.newContext({ locale: 'en-US', viewport: { width, height }, colorScheme, ...touch });
  // It ends what hangs.
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  if (atMs !== undefined) await page.clock.setFixedTime(atMs);
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) problems.push(`asked ${request.url()}`);
  });
  await page.goto(url);
  return { page, problems };
}

const IS_LOADED = `(() => {
  const panels = [...document.querySelectorAll('.panel')].filter((one) => one.getBoundingClientRect().top < innerHeight);
  const isDrawn = (one) => one.querySelector('.body').firstElementChild && one.ariaBusy !== 'true';
  return panels.length > 0 && panels.every(isDrawn);
})()`;

/** Until every panel in the window has drawn what it asked for. */
export const loaded = (page: Page) => until(() => page.evaluate<boolean>(IS_LOADED));

/** Where the chart of a panel is in the window, pixels; while a refresh replaces the chart it is looked for again. */
export async function chartBox(page: Page, panel: number) {
  const chart = page.locator(`[data-panel="${panel}"] .u-over`);
  for (;;) {
    await chart.waitFor();
    const box = await chart.boundingBox();
    if (box) return box;
  }
}

const COLUMNS_IN = `(canvas, [red, green, blue]) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  const near = (at, ...color) => color.every((part, i) => Math.abs(data[at + i] - part) < 40);
  return Array.from({ length: width }, (_, x) => {
    for (let y = 0; y < height; y++) if (near(4 * (y * width + x), red, green, blue)) return true;
    return false;
  });
}`;

/** For each pixel column of a panel's canvas, whether it has a pixel of about this color. */
export const columnsIn = (page: Page, panel: number, color: readonly [red: number, green: number, blue: number]) =>
  page.evaluate<boolean[]>(
    `(${COLUMNS_IN})(document.querySelector('[data-panel="${panel}"] canvas'), ${JSON.stringify(color)})`,
  );
