import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { describeError, packageRoot } from '../../core/index.js';
import { loadDashboards } from '../dashboards/shipped-dashboards.js';
import { startChromium } from '../support/chromium.js';
import { until } from '../support/until.js';
import { openPage } from './open-page.js';

const HELP = `npm run screenshots -- [--viewer URL] [--minutes M]

Draws the first page and every dashboard of a running viewer, in the dark and the light theme, into docs/images/.

  --viewer URL   the viewer (default http://127.0.0.1:8080)
  --minutes M    the drawn time, up to now (default 30)`;

const WIDTH = 1440;
/** A full page of small text would be a file of more than 200 kB. */
const HEIGHT = 760;
const FOLDER = join(packageRoot(), 'docs/images');

const { values } = parseArgs({
  options: {
    viewer: { type: 'string', default: 'http://127.0.0.1:8080' },
    minutes: { type: 'string', default: '30' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help || !(Number(values.minutes) > 0)) {
  process.stdout.write(`${HELP}\n`);
  process.exit(values.help ? 0 : 2);
}

/** Resolves when every panel in the window has drawn what it asked for. */
async function drawn(page: Page): Promise<void> {
  const isDrawn = `(() => {
    const panels = [...document.querySelectorAll('.panel')].filter((one) => one.getBoundingClientRect().top < innerHeight);
    return panels.length + document.querySelectorAll('.card').length > 0
      && panels.every((one) => one.querySelector('.body').firstElementChild && one.ariaBusy !== 'true');
  })()`;
  await until(() => page.evaluate<boolean>(isDrawn));
  await page.waitForLoadState('networkidle');
}

const browser = await startChromium();
try {
  mkdirSync(FOLDER, { recursive: true });
  const range = `from=now-${Number(values.minutes)}m&to=now`;
  const pages = [
    { name: 'first-page', path: '/' },
    ...loadDashboards().map(({ uid }) => ({ name: uid.replace(/^chancery-/, ''), path: `/d/${uid}?${range}` })),
  ];
  for (const { name, path } of pages) {
    for (const colorScheme of ['dark', 'light'] as const) {
      const { page } = await openPage(browser, `${values.viewer}${path}`, { width: WIDTH, colorScheme });
      await drawn(page);
      const file = join(FOLDER, `${name}-${colorScheme}.png`);
      await page.screenshot({
        path: file,
        animations: 'disabled',
        caret: 'hide',
        clip: { x: 0, y: 0, width: WIDTH, height: HEIGHT },
      });
      process.stdout.write(`${file}  ${Math.round(statSync(file).size / 1000)} kB\n`);
      await page.context().close();
    }
  }
} catch (error) {
  process.stderr.write(`no screenshot of ${values.viewer}: ${describeError(error)}\n`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
