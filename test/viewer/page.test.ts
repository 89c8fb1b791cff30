// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Grafana writes a variable.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dashboardFolder, type ViewerServer } from '../../viewer/index.js';
import { loadDashboards } from '../dashboards/shipped-dashboards.js';
import { WarehouseData } from '../sql/warehouse-data.js';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import { expectSound, narrowInOtherTheme } from './accessibility.js';
import { accessibilityProblems } from './axe.js';
import { dashboard, folderOf, panel, queryVariable } from './dashboards.js';
import { chartBox, columnsIn, loaded, openPage } from './open-page.js';
import { recordHalfHour } from './recorded-half-hour.js';
import { connectWith } from './viewer-connection.js';
import { startViewer } from './viewer-rig.js';

const host = useDatabase({ migrated: true });
let browser: Browser;
let shipped: ViewerServer;
let seeded: ViewerServer;

/** Height of a window that shows all panels of the longest dashboard, below each other where it is narrow. */
const ALL_PANELS = 7200;
const LONG_WORD = 'unbroken'.repeat(50);
const TITLE = '<img src=x onerror=alert(1)> \u202e **evil**';
const files = {
  'slow.json': dashboard('slow', [panel(1, 'stat', 'SELECT sum(1 + sleepEachRow(1)) AS n FROM numbers(2)')], {
    refresh: '1s',
  }),
  'live.json': dashboard('live', [panel(1, 'stat', 'SELECT toUnixTimestamp(now()) AS n')], { refresh: '1s' }),
  'kept.json': dashboard(
    'kept',
    [
      panel(1, 'table', 'SELECT market, max(price) AS price FROM seeded_prices GROUP BY market ORDER BY market'),
      ...[2, 3].map((id) =>
        panel(
          id,
          'timeseries',
          'SELECT at AS time, max(price) AS price FROM seeded_prices GROUP BY time ORDER BY time',
        ),
      ),
    ],
    { refresh: '1s', templating: { list: [{ type: 'textbox', name: 'typed', query: '' }] } },
  ),
  'large.json': dashboard('large', [panel(1, 'table', 'SELECT number AS n FROM numbers(5000)')]),
  'long.json': dashboard('long', [panel(1, 'stat', 'SELECT 1 AS n', { title: LONG_WORD })], {
    title: LONG_WORD,
    description: LONG_WORD,
  }),
  'present.json': dashboard(
    'present',
    [
      panel(1, 'stat', 'SELECT max(price) AS price FROM present_prices'),
      panel(2, 'stat', 'SELECT max(price) AS price FROM present_prices WHERE $__fromTime > 0'),
    ],
    { refresh: '10s' },
  ),
  'a.json': dashboard(
    'seeded',
    [
      panel(
        1,
        'table',
        'SELECT market, price, link FROM seeded_prices WHERE market = ${market:singlequote} ORDER BY at',
        {
          title: TITLE,
          fieldConfig: {
            defaults: { unit: 'suffix:USDC', decimals: 2 },
            overrides: [
              {
                matcher: { id: 'byName', options: 'link' },
                properties: [{ id: 'links', value: [{ title: 'Go', url: 'javascript:alert(1)' }] }],
              },
            ],
          },
        },
      ),
      panel(2, 'stat', 'SELECT max(price) AS price FROM seeded_prices WHERE market = ${market:singlequote}'),
      panel(
        3,
        'timeseries',
        'SELECT at AS time, price, missing FROM seeded_prices WHERE market = ${market:singlequote} AND $__timeFilter(at) ORDER BY time',
      ),
      panel(4, 'geomap', 'SELECT 1'),
      panel(5, 'text', 'SELECT 1', {
        targets: [],
        options: { content: '# Hello\n<script>alert(1)</script> **bold**' },
      }),
      panel(6, 'table', 'SELECT nonsense'),
    ],
    { templating: { list: [queryVariable('market', 'SELECT DISTINCT market FROM seeded_prices ORDER BY market')] } },
  ),
};

beforeAll(async () => {
  await recordHalfHour(new WarehouseData(host.database));
  await host.database.run(
    'CREATE TABLE seeded_prices (at DateTime, market String, price Float64, missing Float64, link String) ENGINE = MergeTree ORDER BY at',
  );
  await host.database.run(
    `INSERT INTO seeded_prices SELECT now() - 60 * (30 - number), arrayJoin(['one', 'two']) AS market, number + if(market = 'two', 100, 0),
      if(number BETWEEN 10 AND 14, 1, 0), '<b>x</b>' FROM numbers(30)`,
  );
  await host.database.run('CREATE TABLE present_prices (price Float64) ENGINE = MergeTree ORDER BY price');
  await host.database.run('INSERT INTO present_prices VALUES (0)');
  [browser, shipped, seeded] = await Promise.all([
    startChromium(),
    startViewer(host.database, dashboardFolder()),
    startViewer(host.database, folderOf(files)),
  ]);
});
afterAll(() => browser?.close());

const open = (url: string, options?: Parameters<typeof openPage>[2]) => openPage(browser, url, options);

const textOf = (page: Page, id: number) => page.locator(`[data-panel="${id}"] .body`).innerText();
const cells = (page: Page) => page.locator('[data-panel="1"] tbody tr').allInnerTexts();

describe('the page', () => {
  it.each(loadDashboards().map(({ uid }) => uid))(
    'opens %s in both themes and widths without an error, sideways scrolling, or what axe-core finds',
    async (uid) => {
      const { page, problems } = await open(`${shipped.url}/d/${uid}?refresh=`, { height: ALL_PANELS });
      await loaded(page);
      await expectSound(page);
      await narrowInOtherTheme(page, ALL_PANELS);
      await loaded(page);
      await expectSound(page);
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  it('is in a browser that lets pages of other origins read nothing, and runs only what its policy allows', async () => {
    const foreign = createServer((_, response) => response.end('<!doctype html><title>foreign</title>')).listen(
      0,
      '127.0.0.1',
    );
    await once(foreign, 'listening');
    const { port } = foreign.address() as AddressInfo;
    const fetched = (page: Page, url: string) =>
      page.evaluate<string>(`fetch(${JSON.stringify(url)}).then(({ status }) => String(status), ({ name }) => name)`);
    const other = await open(`http://127.0.0.1:${port}/`);
    expect(await fetched(other.page, `${shipped.url}/api/dashboards`)).toBe('TypeError');
    const { page } = await open(shipped.url);
    expect(await fetched(page, `${shipped.url}/api/dashboards`)).toBe('200');
    expect(await fetched(page, `http://127.0.0.1:${port}/`)).toBe('TypeError');
    const ran = await page.evaluate(`(() => {
      const script = document.createElement('script');
      script.textContent = 'window.ran = true';
      document.body.append(script);
      document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="window.ran = true">');
      return new Promise((resolve) => setTimeout(() => resolve(window.ran), 100));
    })()`);
    expect(ran).toBeUndefined();
    await Promise.all([page.context().close(), other.page.context().close()]);
    foreign.close();
  });

  it('says that recording is not known while no answer comes', async () => {
    const { page } = await open(shipped.url);
    await page.clock.install();
    await page.reload();
    const state = () => page.locator('.state').innerText();
    await expect.poll(state).toMatch(/record/);
    await page.evaluate(`(() => {
      const state = document.querySelector('.state');
      window.said = [];
      new MutationObserver(() => window.said.push(state.textContent)).observe(state, { childList: true });
    })()`);
    // In the page's time: meanwhile no answer comes.
    await page.clock.fastForward(30_000);
    expect(await page.evaluate<string[]>('window.said')).toContainEqual(
      expect.stringMatching(/^no answer for \d+ s: not known whether it is recording$/),
    );
    await expect.poll(state).not.toMatch(/no answer/);
    await page.context().close();
  });

  it('asks for the token in a page that axe-core finds nothing in', async () => {
    const { url } = await startViewer(host.database, folderOf({}), { token: 'the token' });
    const { page } = await open(url);
    await page.getByLabel('Token').fill('another');
    await page.getByRole('button', { name: 'Open' }).click();
    await expect.poll(() => page.getByRole('alert').allInnerTexts()).toContain('this is not the token of the viewer');
    expect(await accessibilityProblems(page)).toEqual([]);
    await narrowInOtherTheme(page);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByLabel('Token').fill('the token');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.locator('#search').waitFor();
    // As after a new start of the viewer, which ends its sessions.
    await page.context().clearCookies();
    await page.locator('#search').fill('x');
    await page.getByLabel('Token').waitFor();
    await page.context().close();
  });

  it('draws what ClickHouse returns, in tables, stats and charts, for the chosen variable', async () => {
    const { page, problems } = await open(`${seeded.url}/d/seeded?var-market=two`);
    await loaded(page);
    const rows = await host.database.rows<{ price: number }>(
      "SELECT price FROM seeded_prices WHERE market = 'two' ORDER BY at",
    );
    expect(await cells(page)).toEqual(rows.map(({ price }) => `two\t${price.toFixed(2)} USDC\t<b>x</b>`));
    expect(await textOf(page, 2)).toBe('129');
    await page.locator('#variable-market').selectOption('one');
    await expect.poll(() => textOf(page, 2)).toBe('29');
    expect(page.url()).toContain('var-market=one');
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    await page.context().close();
  });

  it('draws no line where data is missing, and hatches it', async () => {
    const { page } = await open(`${seeded.url}/d/seeded?var-market=one&from=now-40m&to=now&viewPanel=3`);
    await loaded(page);
    await page.locator('[data-panel="3"] canvas').waitFor();
    expect(await page.locator('[data-panel="3"] .legend').innerText()).toContain('missing');
    expect(await page.locator('[data-panel="3"] .note').innerText()).toBe('');
    // Of the series' color, #56b4e9, in the pixel columns of the middle of each minute.
    const drawn = await columnsIn(page, 3, [0x56, 0xb4, 0xe9]);
    const [first, last] = [drawn.indexOf(true), drawn.lastIndexOf(true)];
    const minute = (last - first) / 30;
    const isDrawn = (number: number) => drawn[Math.round(first + (number + 0.5) * minute)];
    expect([5, 9, 15, 20, 28].map(isDrawn)).toEqual([true, true, true, true, true]);
    expect([10, 11, 12, 13, 14].map(isDrawn)).toEqual([false, false, false, false, false]);
    const box = await chartBox(page, 3);
    await page.mouse.move(box.x + box.width - 2, box.y + 50);
    expect(await page.locator('.tooltip:visible dd').allInnerTexts()).toContain('29');
    await page.context().close();
  });

  it('shows hostile titles, texts and links as text, and names what it does not support', async () => {
    const { page, problems } = await open(`${seeded.url}/d/seeded`);
    await page.setViewportSize({ width: 1440, height: 2400 });
    await loaded(page);
    expect(await page.locator('[data-panel="1"] h2').innerText()).toBe(TITLE.replace('\u202e', '\\u202e'));
    expect(await page.locator('img, script:not([src]), [data-panel="1"] a').count()).toBe(0);
    expect(await textOf(page, 4)).toBe('The viewer does not support panels of the type geomap.');
    expect(await textOf(page, 5)).toContain('<script>alert(1)</script> bold');
    expect(await textOf(page, 6)).toContain('nonsense');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('t');
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    await page.context().close();
  });

  it('draws a query that takes longer than the refresh interval', async () => {
    const { page } = await open(`${seeded.url}/d/slow`);
    await expect.poll(() => textOf(page, 1)).toContain('2');
    await page.context().close();
  });

  it('asks more often for panels that show the present, and draws them', async () => {
    const { page } = await open(`${seeded.url}/d/present`);
    const asked = [0, 0];
    page.on('request', (request) => {
      const [, id] = /\/panels\/(\d)\/data$/.exec(request.url()) ?? [];
      if (id !== undefined) asked[Number(id) - 1] = (asked[Number(id) - 1] ?? 0) + 1;
    });
    // As soon as the machine is not too busy: the interval follows the time of the query.
    await expect.poll(() => (asked[0] ?? 0) - 2 * (asked[1] ?? 0), { timeout: 300_000 }).toBeGreaterThan(3);
    await host.database.run('INSERT INTO present_prices VALUES (7)');
    await expect.poll(() => textOf(page, 1)).toBe('7');
    await page.context().close();
  });

  it('keeps what the reader does when it refreshes: order, focus, tooltip, and a text that is being typed', async () => {
    const { page, problems } = await open(`${seeded.url}/d/kept`);
    await loaded(page);
    const refreshed = () =>
      Promise.all(
        [1, 2, 3].map((id) =>
          page.waitForResponse((response) => response.ok() && new RegExp(`panels/${id}/data`).test(response.url())),
        ),
      ).then(() => loaded(page));
    const box = await chartBox(page, 2);
    await page.getByTitle('Sort by price').click();
    await page.mouse.move(box.x + box.width - 2, box.y + 50);
    await page.locator('.tooltip:visible').waitFor();
    await refreshed();
    expect(await cells(page)).toEqual(['two\t129', 'one\t29']);
    expect(await page.locator('th[aria-sort="descending"]').innerText()).toBe('price');
    expect(await page.evaluate('document.activeElement.title')).toBe('Sort by price');
    expect(await page.locator('.tooltip:visible dd').innerText()).toBe('129');
    await page.getByLabel('typed').pressSequentially('a');
    await refreshed();
    await page.getByLabel('typed').pressSequentially('b');
    expect(page.url()).not.toContain('var-typed=a');
    await page.keyboard.press('Enter');
    await page.waitForURL(/var-typed=ab/);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('shows a range that was chosen by its times, without a pointer', async () => {
    const { page, problems } = await open(`${seeded.url}/d/kept?refresh=`);
    await loaded(page);
    await page.keyboard.press('c');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByLabel('From', { exact: true }).fill('2026-11-20T10:00:05');
    await page.getByLabel('To', { exact: true }).fill('2026-11-20T09:00:00');
    await page.getByRole('button', { name: 'Show this range' }).press('Enter');
    expect(await page.locator('dialog:visible').count()).toBe(1);
    await page.getByLabel('To', { exact: true }).fill('2026-11-20T11:00:00');
    await page.getByRole('button', { name: 'Show this range' }).press('Enter');
    const [from, to] = await page.evaluate<number[]>(
      "['2026-11-20T10:00:05', '2026-11-20T11:00:00'].map((time) => new Date(time).getTime())",
    );
    await page.waitForURL(new RegExp(`from=${from}&to=${to}`));
    await page.locator('#range').selectOption('From … to …');
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-11-20T10:00:05');
    await page.keyboard.press('Escape');
    expect(await page.locator('#range').inputValue()).toBe('own');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('tells what a panel shows, and leaves the focus in one that fills the page, below the header, until Escape', async () => {
    const { page, problems } = await open(`${shipped.url}/d/chancery-pipeline-health`);
    await page.waitForSelector('.panel');
    const first = page.locator('.panel').first();
    const title = await first.locator('h2').innerText();
    await first.getByRole('button', { name: 'About this panel' }).press('Enter');
    expect(await page.locator('dialog').innerText()).toContain(title);
    expect((await page.locator('dialog p').innerText()).length).toBeGreaterThan(20);
    await page.keyboard.press('Escape');
    await first.getByTitle('Full screen').press('Enter');
    const headerEnd = await page.evaluate<number>("document.querySelector('.top').getBoundingClientRect().bottom");
    expect((await first.boundingBox())?.y).toBeCloseTo(headerEnd, 0);
    const outside = `(() => {
      const { activeElement } = document;
      return activeElement.closest('.grid') !== null && activeElement.closest('.full') === null;
    })()`;
    for (let press = 0; press < 8; press++) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(outside)).toBe(false);
    }
    await page.locator('#range').press('Escape');
    expect(await page.locator('.grid > [inert]').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('on a phone shows titles as a whole until the actions are asked for, and values where it is tapped', async () => {
    const { page, problems } = await open(`${seeded.url}/d/seeded?var-market=one&refresh=`, {
      width: 360,
      height: 2400,
      isPhone: true,
    });
    await loaded(page);
    const panel = page.locator('[data-panel="3"]');
    expect(await panel.getByTitle('Show SQL').isVisible()).toBe(false);
    await panel.getByTitle('Actions').tap();
    expect(await panel.getByTitle('Show SQL').isVisible()).toBe(true);
    const box = await chartBox(page, 3);
    await page.touchscreen.tap(box.x + box.width - 4, box.y + 50);
    await expect.poll(() => page.locator('.tooltip:visible dd').allInnerTexts()).toContain('29');
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    await page.context().close();
  });

  it('draws the first thousand rows of a large table, in any order', async () => {
    const { page, problems } = await open(`${seeded.url}/d/large`);
    await loaded(page);
    expect(await page.locator('[data-panel="1"] tbody tr').count()).toBe(1000);
    expect(await page.locator('[data-panel="1"] .note').innerText()).toBe('the first 1,000 of 5,000 rows');
    await page.getByRole('button', { name: 'n', exact: true }).click();
    expect(await page.locator('[data-panel="1"] tbody tr').first().innerText()).toBe('4,999');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('is as wide as its window with a long word in titles, which hide nothing else', async () => {
    const { page, problems } = await open(`${seeded.url}/d/long`);
    const width = 'document.documentElement.scrollWidth';
    for (const size of [360, 1440]) {
      await page.goto(`${seeded.url}/d/long`);
      await page.setViewportSize({ width: size, height: 900 });
      await loaded(page);
      expect(await page.evaluate(width)).toBe(size);
      await page.goto(seeded.url);
      await page.locator('.card').first().waitFor();
      expect(await page.evaluate(width)).toBe(size);
      const cut =
        "[...document.querySelectorAll('.card')].filter((card) => card.scrollWidth > card.clientWidth).length";
      expect(await page.evaluate(cut)).toBe(0);
      const side = await page.locator('.cards').boundingBox();
      const card = await page.locator('.card').last().boundingBox();
      expect((card?.x ?? 0) + (card?.width ?? 0)).toBeLessThanOrEqual((side?.x ?? 0) + (side?.width ?? 0));
    }
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('zooms once where several charts share the line at the pointer', async () => {
    const { page } = await open(`${seeded.url}/d/kept?refresh=`);
    await loaded(page);
    const box = await chartBox(page, 2);
    await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 50, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=\d{13}&to=\d{13}&refresh=&/);
    await page.keyboard.press('b');
    await page.waitForURL(/from=now-1h&to=now&refresh=&/);
    await page.context().close();
  });

  it('changes the address and the range before the server has answered', async () => {
    const { page } = await open(`${seeded.url}/d/seeded?from=2026-11-20T10:00:00.000Z&to=2026-11-20T11:00:00.000Z`);
    await loaded(page);
    const chosen = () => page.locator('#range option:checked').innerText();
    expect(await chosen()).toMatch(/^2026-11-(19|20|21) [0-9:]{8} to 2026-11-(19|20|21) [0-9:]{8}$/);
    await page.route(/[/]variables$/, () => undefined);
    await page.keyboard.press('z');
    await page.waitForURL(/from=\d{13}&to=\d{13}/);
    await page.keyboard.press('b');
    await page.waitForURL(/from=2026-11-20T10/);
    expect(await chosen()).toContain(' to ');
    await page.context().close();
  });

  it('says that ClickHouse does not run, and draws again when it is back', async () => {
    let isRunning = true;
    const proxy = await startFaultProxy(
      () => host.database.reader.url,
      () => (isRunning ? undefined : 'reset-before'),
      () => 0,
    );
    const connect = connectWith({ ...host.database.reader, database: host.database.name, url: proxy.url });
    const own = await startViewer(host.database, folderOf(files), { connect });
    const { page, problems } = await open(`${own.url}/d/live`);
    const shownAt = () => page.locator('[data-panel="1"] .value').innerText();
    const followed = async () => {
      const first = await shownAt();
      await expect.poll(shownAt).not.toBe(first);
    };
    await followed();
    isRunning = false;
    await page.getByText('ClickHouse does not respond').first().waitFor();
    const { page: still } = await open(`${own.url}/d/seeded?refresh=&viewPanel=2`);
    await still.getByText('ClickHouse does not respond').first().waitFor();
    isRunning = true;
    await followed();
    await still.locator('[data-panel="2"] .value').waitFor();
    await still.context().close();
    await expect.poll(() => page.getByText('ClickHouse does not respond').count()).toBe(0);
    expect(problems.filter((problem) => !problem.includes('503'))).toEqual([]);
    await page.context().close();
    await own.stop();
    await proxy.close();
  });

  it('stays live in twelve pages of one browser, over one stream', async () => {
    const { page } = await open(`${seeded.url}/d/live`);
    const context = page.context();
    const others = await Promise.all(Array.from({ length: 11 }, () => context.newPage()));
    const followed = async (one: Page) => {
      await one.goto(`${seeded.url}/d/live`);
      const shownAt = () => one.locator('[data-panel="1"] .value').innerText();
      const first = await shownAt();
      await expect.poll(shownAt).not.toBe(first);
      await expect.poll(() => one.locator('.state').innerText()).toMatch(/^recording/);
    };
    await Promise.all([page, ...others].map(followed));
    await expect.poll(() => seeded.streams).toBe(1);
    await context.close();
    await expect.poll(() => seeded.streams).toBe(0);
  });

  it('lists its keys, and searches the dashboards', async () => {
    const { page, problems } = await open(`${shipped.url}/d/chancery-portfolio`);
    await page.waitForSelector('.panel');
    await page.keyboard.press('?');
    expect(await page.locator('dialog').innerText()).toContain('zoom out');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.waitForSelector('#search:focus');
    await page.keyboard.type('how late');
    expect(await page.locator('.card:visible h2').allInnerTexts()).toEqual(['Pipeline health']);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('zooms by dragging, goes back with a key, shows SQL, and changes its theme', async () => {
    const { page } = await open(`${seeded.url}/d/seeded?from=now-1h&to=now&viewPanel=3`);
    await loaded(page);
    const box = await chartBox(page, 3);
    await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 50, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=\d{13}&to=\d{13}/);
    const { searchParams } = new URL(page.url());
    const zoomed = Number(searchParams.get('to')) - Number(searchParams.get('from'));
    expect(Math.abs(zoomed - 30 * 60_000)).toBeLessThan(60_000);
    await page.goBack();
    await page.waitForURL(/from=now-1h&to=now/);
    await expect.poll(() => page.locator('#range').inputValue()).toBe('now-1h');
    await page.goForward();
    await page.waitForURL(/from=\d{13}&to=\d{13}/);
    await page.keyboard.press('b');
    await page.waitForURL(/from=now-1h&to=now/);
    await page.keyboard.press('l');
    await page.waitForURL(/from=\d{13}&to=\d{13}/);
    const link = new URL(page.url()).searchParams;
    expect(Number(link.get('to')) - Number(link.get('from'))).toBe(3_600_000);
    expect(Math.abs(Date.now() - Number(link.get('to')))).toBeLessThan(60_000);
    // Of what was pressed before, no response is left.
    await loaded(page);
    const drawn = page.waitForResponse(
      (response) =>
        /panels\/3\/data/.test(response.url()) && response.request().postDataJSON()?.from === 'now-1h' && response.ok(),
    );
    await page.keyboard.press('b');
    await page.waitForURL(/from=now-1h&to=now/);
    const { nowMs } = await (await drawn).json();
    await loaded(page);
    await page.locator('[data-panel="3"]').hover();
    const downloaded = page.waitForRequest(/panels\/3\/export/);
    await page.getByRole('region', { name: 'Panel 3' }).getByTitle('Download CSV').click();
    expect((await downloaded).postDataJSON()).toMatchObject({ from: 'now-1h', to: 'now', nowMs });
    await page.getByRole('region', { name: 'Panel 3' }).getByTitle('Show SQL').click();
    await expect.poll(() => page.locator('dialog pre').innerText()).toContain("market = 'one'");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('t');
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light');
    await page.context().close();
  });
});
