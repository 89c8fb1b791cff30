import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ClickHouseClient } from '@clickhouse/client';
import { createClient } from '@clickhouse/client';
import type { Browser } from 'playwright-core';
import { WarehouseRig } from '../../bench/warehouse-rig.js';
import { describeError, packageRoot, systemClock } from '../../core/index.js';
import { dashboardFolder, ViewerServer } from '../../viewer/index.js';
import type { EmbeddedEndpoint } from '../../warehouse/index.js';
import { loadDashboards } from '../dashboards/shipped-dashboards.js';
import { WarehouseData } from '../sql/warehouse-data.js';
import { startChromium } from '../support/chromium.js';
import { runAs } from '../support/run-as.js';
import { accessibilityProblems } from './axe.js';
import { loaded, openPage } from './open-page.js';
import { recordSeededMarket, SEEDED_NOW_MS } from './seeded-market.js';

const HELP = `npm run screenshots -- [--out DIR] [--width W] [--height H]

Draws the first page and every dashboard in both themes, of a seeded market at a fixed time: a second run changes no pixel.
Fails when axe-core finds something in one of them.

  --out DIR    folder of the images (default docs/images)
  --width W    of the window, pixels (default 1440)
  --height H   of the window, pixels (default 760: a full page of small text would be a file of more than 200 kB)`;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(packageRoot(), 'docs/images') },
    width: { type: 'string', default: '1440' },
    height: { type: 'string', default: '760' },
    help: { type: 'boolean', default: false },
  },
});
const size = { width: Number(values.width), height: Number(values.height) };
if (values.help || !(size.width > 0 && size.height > 0)) {
  process.stdout.write(`${HELP}\n`);
  process.exit(values.help ? 0 : 2);
}

/** What depends on the time, or on the machine, in the SQL of views and panels. */
const VARYING = /\bnow64\(([36])(?:, 'UTC')?\)|\bnow\(\)|\bfilesystemAvailable\(\)/g;
const fixed = (sql: string): string =>
  sql.replace(VARYING, (call, digits: string | undefined) => {
    if (call.startsWith('file')) return '0.62 * filesystemCapacity()';
    const at = `'${new Date(SEEDED_NOW_MS).toISOString().replace('T', ' ').replace('Z', '')}'`;
    return digits === undefined ? `toDateTime(${at}, 'UTC')` : `toDateTime64(${at}, ${digits}, 'UTC')`;
  });

/** A database with the seeded market, whose views take its last moment for now. */
async function seed(endpoint: EmbeddedEndpoint, database: string): Promise<void> {
  const run = (sql: string) => runAs({ ...endpoint.owner, url: `${endpoint.owner.url}/?database=${database}` }, sql);
  await recordSeededMarket(new WarehouseData({ run, rows: () => Promise.reject(new Error('it is not asked')) }));
  const views = await run(
    "SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND engine = 'View' AND create_table_query LIKE '%now64(%' FORMAT JSONEachRow",
  );
  for (const line of views.split('\n').filter((one) => one !== '')) {
    const { create_table_query: created } = JSON.parse(line) as { create_table_query: string };
    await run(fixed(created).replace(/^CREATE VIEW/, 'CREATE OR REPLACE VIEW'));
  }
}

async function openViewer(endpoint: EmbeddedEndpoint, rig: WarehouseRig): Promise<ViewerServer> {
  const { database } = rig.settings;
  const { url, user, password } = endpoint.reader;
  const connect = async () => {
    const client = createClient({ url, username: user, password: password.reveal(), database });
    const exec: ClickHouseClient['exec'] = (asked) => client.exec({ ...asked, query: fixed(asked.query) });
    const fixedClient = new Proxy(client, { get: (of, key) => (key === 'exec' ? exec : Reflect.get(of, key)) });
    return { client: fixedClient, close: () => client.close() };
  };
  const viewer = new ViewerServer({
    ...{ host: '127.0.0.1', port: 0, dashboards: dashboardFolder(), databases: [database], log: rig.log, connect },
    clock: { ...systemClock, nowMs: () => SEEDED_NOW_MS },
  });
  await viewer.start();
  return viewer;
}

const RANGES: Readonly<Record<string, string>> = { 'chancery-portfolio': 'now-6h', 'chancery-volume': 'now-6h' };

async function draw(browser: Browser, url: string): Promise<number> {
  mkdirSync(values.out, { recursive: true });
  const dashboards = loadDashboards().map(({ uid, time }) => ({
    name: uid.replace(/^chancery-/, ''),
    path: `/d/${uid}?from=${RANGES[uid] ?? time.from}&to=now`,
  }));
  let found = 0;
  for (const { name, path } of [{ name: 'first-page', path: '/' }, ...dashboards]) {
    for (const colorScheme of ['dark', 'light'] as const) {
      const { page } = await openPage(browser, `${url}${path}`, { ...size, colorScheme, atMs: SEEDED_NOW_MS });
      if (path === '/') {
        const tables = page.locator('.home table');
        await tables.first().waitFor();
        await tables.nth(1).waitFor();
      } else await loaded(page);
      await page.locator('.state:text-matches("^recording(?! has stopped)")').waitFor();
      const file = join(values.out, `${name}-${colorScheme}.png`);
      await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
      process.stdout.write(`${file}  ${Math.round(statSync(file).size / 1000)} kB\n`);
      for (const problem of await accessibilityProblems(page)) {
        process.stdout.write(`  ${problem}\n`);
        found++;
      }
      await page.context().close();
    }
  }
  return found;
}

const rig = new WarehouseRig();
let browser: Browser | undefined;
let viewer: ViewerServer | undefined;
try {
  await rig.start();
  await seed(rig.endpoint, rig.settings.database);
  viewer = await openViewer(rig.endpoint, rig);
  browser = await startChromium();
  if ((await draw(browser, viewer.url)) > 0) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`no images: ${describeError(error)}\n`);
  process.exitCode = 1;
} finally {
  await browser?.close();
  await viewer?.stop();
  await rig.close();
}
