import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { packageRoot } from '../../core/index.js';
import { removeFolder, temporaryFolder } from '../../test/support/temporary-folder.js';
import { openPage } from '../../test/viewer/open-page.js';

export interface FirstEvents {
  /** Until `npm start` prints the address of the viewer, seconds. */
  readonly readySeconds: number;
  /** Until the page at that address, opened at once, shows events. */
  readonly shownSeconds: number;
}

/** What a clone does not have, or what takes long to copy. */
const NOT_COPIED = new Set(['.cache', '.git', 'data', 'dist', 'node_modules']);

/**
 * Runs `npm start` in a copy of the checkout that is not built yet, with its simulated exchange and bots, and opens the address
 * that it prints.
 */
export async function measureFirstEvents(browser: Browser): Promise<FirstEvents> {
  const folder = temporaryFolder();
  const root = packageRoot();
  const checkout = join(folder, 'checkout');
  cpSync(root, checkout, { recursive: true, filter: (path) => path === root || !NOT_COPIED.has(basename(path)) });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  const start = spawn('npm', ['start', '--', '--data', join(folder, 'data')], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const exited = once(start, 'close');
  try {
    const url = await addressOf(createInterface({ input: start.stdout }));
    const readySeconds = seconds();
    const { page } = await openPage(browser, url);
    await page.getByRole('region', { name: 'Events' }).locator('tbody tr').first().waitFor();
    const shownSeconds = seconds();
    await page.context().close();
    return { readySeconds, shownSeconds };
  } finally {
    // npm, and what it started.
    if (start.pid !== undefined && start.exitCode === null) process.kill(-start.pid, 'SIGTERM');
    await exited;
    removeFolder(folder);
  }
}

async function addressOf(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const [, url] = /^ready in .*; open (http:\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('`npm start` ended before it was ready');
}
