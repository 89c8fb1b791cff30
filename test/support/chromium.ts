import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { temporaryFolder } from './temporary-folder.js';

/** They would let pages ask other origins, or end the browser at its second context. */
const UNWANTED = ['--disable-web-security', '--allow-running-insecure-content', '--single-process'];

/** Of a start; more than a busy machine needs. */
const START_MS = 300_000;

/** Starts the Chromium that npm brought, unpacked into a temporary folder. */
export async function startChromium(): Promise<Browser> {
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = temporaryFolder();
  try {
    const executablePath = await sparticuz.executablePath();
    const args = sparticuz.args.filter((arg) => !UNWANTED.some((unwanted) => arg.startsWith(unwanted)));
    return await chromium.launch({ executablePath, args, headless: true, timeout: START_MS });
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  }
}
