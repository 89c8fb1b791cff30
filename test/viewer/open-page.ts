import type { Browser, Page } from 'playwright-core';

interface Opened {
  readonly page: Page;
  /** What went wrong in the page. */
  readonly problems: string[];
}

/** Opens a page of the viewer in a context of its own. */
export async function openPage(
  browser: Browser,
  url: string,
  options: { width?: number; colorScheme?: 'dark' | 'light' } = {},
): Promise<Opened> {
  const { width = 1440, colorScheme = 'dark' } = options;
  const context = await browser.newContext({ locale: 'en-US', viewport: { width, height: 900 }, colorScheme });
  // It ends what hangs.
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
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
