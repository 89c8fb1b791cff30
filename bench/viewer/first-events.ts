import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { packageRoot } from '../../core/index.js';
import { removeFolder, temporaryFolder } from '../../test/support/temporary-folder.js';
import { openPage } from '../../test/viewer/open-page.js';

export interface FirstEvents {
  /** Until `chancery up` prints the address of the viewer, seconds. */
  readonly readySeconds: number;
  /** Until the page at that address, opened at once, shows events. */
  readonly shownSeconds: number;
}

/** Starts `chancery up` on a new data folder, with its simulated exchange and bots, and opens the address that it prints. */
export async function measureFirstEvents(browser: Browser): Promise<FirstEvents> {
  const folder = temporaryFolder();
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  const up = spawn(process.execPath, [join(packageRoot(), 'dist/cli/main.js'), 'up', '--data', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(up, 'close');
  try {
    const url = await addressOf(createInterface({ input: up.stdout }));
    const readySeconds = seconds();
    const { page } = await openPage(browser, url);
    await page.getByRole('region', { name: 'Events' }).locator('tbody tr').first().waitFor();
    const shownSeconds = seconds();
    await page.context().close();
    return { readySeconds, shownSeconds };
  } finally {
    up.kill('SIGTERM');
    await exited;
    removeFolder(folder);
  }
}

async function addressOf(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const [, url] = /^ready in .*; open (http:\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('`chancery up` ended before it was ready');
}
