// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Grafana writes a variable.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deferred } from '../../core/index.js';
import type { ViewerServer } from '../../viewer/index.js';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { dashboard, folderOf, panel, queryVariable } from './dashboards.js';
import { columnsIn, loaded, openPage } from './open-page.js';
import { startViewer } from './viewer-rig.js';

const host = useDatabase({ migrated: true });
let browser: Browser;
let viewer: ViewerServer;

const RANGE = 'SELECT dateDiff(minute, $__fromTime, $__toTime) AS minutes, dateDiff(hour, $__toTime, now()) AS hours';
const inHours = (id: number, more: Record<string, unknown>) =>
  panel(id, 'table', RANGE, { gridPos: { x: 0, y: id * 4, w: 24, h: 4 }, ...more });
const custom = (name: string, query: string, more: Record<string, unknown> = {}) => ({
  type: 'custom',
  name,
  query,
  ...more,
});

const files = {
  'times.json': dashboard(
    'times',
    [
      inHours(1, {}),
      inHours(2, { timeFrom: '30m' }),
      inHours(3, { timeFrom: '2h', timeShift: '$shift' }),
      inHours(4, { timeShift: '1d', hideTimeOverride: true }),
      inHours(5, { timeFrom: 'now/f' }),
    ],
    { templating: { list: [custom('shift', '2d')] } },
  ),
  'repeats.json': dashboard(
    'repeats',
    [
      panel(1, 'table', "SELECT '$host' AS host, ${zone:singlequote} AS zone", {
        title: 'CPU of $host in ${zone:raw}',
        gridPos: { x: 0, y: 0, w: 8, h: 4 },
        repeat: 'host',
        maxPerRow: 2,
        links: [
          { title: 'Logs of ${host}', url: '/d/repeats?var-host=${host:raw}&t=${host:text}', keepTime: true },
          { title: 'Evil', url: 'javascript:alert(1)' },
        ],
      }),
      panel(2, 'text', '', {
        targets: [],
        gridPos: { x: 0, y: 4, w: 24, h: 4 },
        title: 'Text',
        options: { content: 'Hosts: $host, **${host:text}**' },
      }),
      {
        id: 3,
        type: 'row',
        title: 'Zone $zone',
        gridPos: { x: 0, y: 8, w: 24, h: 1 },
        repeat: 'zone',
        links: [{ title: 'Zone', url: '/d/repeats?var-zone=$zone' }],
        panels: [],
      },
      panel(4, 'stat', "SELECT length('$zone') AS length", { gridPos: { x: 0, y: 9, w: 12, h: 4 } }),
      panel(5, 'table', 'SELECT 1', { gridPos: { x: 0, y: 9, w: 12, h: 4 }, repeatPanelId: 1 }),
    ],
    {
      templating: {
        list: [
          custom('host', 'Host A : a b, Host B : b&c, Host C : <i>c</i>', {
            multi: true,
            includeAll: true,
            current: { value: ['a b', 'b&c', '<i>c</i>'] },
          }),
          custom('zone', 'x, yy', { multi: true, includeAll: true, current: { value: '$__all' } }),
        ],
      },
    },
  ),
};

const NAMES = "SELECT arrayJoin(['web-10', 'db-2', 'db-1', 'db-2', 'web-9'])";
const shared = dashboard(
  'shared',
  [
    {
      ...panel(1, 'stat', ''),
      datasource: '${DS_CH}',
      targets: [{ refId: 'A', rawSql: 'SELECT number AS ${VAR_NAME} FROM numbers(1, 9)', format: 1 }],
      options: { reduceOptions: { calcs: ['min', 'median', 'sum'] } },
    },
    panel(2, 'stat', 'SELECT 1', { options: { reduceOptions: { calcs: ['uniqueValues'] } } }),
    panel(3, 'table', "SELECT '$number' AS number"),
    panel(4, 'table', "SELECT '$slow' AS slow"),
  ],
  {
    __inputs: [
      { name: 'DS_CH', type: 'datasource', pluginId: 'grafana-clickhouse-datasource' },
      { name: 'VAR_NAME', type: 'constant', value: 'things' },
    ],
    templating: {
      list: [
        queryVariable('host', NAMES, { sort: 8 }),
        queryVariable('number', NAMES, { regex: '/(?<text>\\w+)-(?<value>\\d+)/', sort: 2 }),
        queryVariable('slow', "SELECT concat(repeat('a', 60), 'b')", { regex: '/^(a+)+$/' }),
      ],
    },
  },
);

/** Of three names, two of which it lists. */
const LIMITED = "SELECT arrayJoin(['x', 'y', 'z']) AS name ORDER BY name LIMIT 2";
const limited = dashboard('limited', [panel(1, 'table', "SELECT '$name' AS name")], {
  templating: { list: [queryVariable('name', LIMITED)] },
});

const BUCKETS =
  'SELECT $__fromTime + toIntervalMinute(number) AS time, toFloat64(0) AS volume, {} AS missing FROM numbers(10)';
const bars = { defaults: { noValue: 'no trade', custom: { drawStyle: 'bars' } }, overrides: [] };
/** Falling candles of a minute, of which the first and the last one are outside of the period by half. */
const CANDLES =
  'SELECT $__fromTime + toIntervalSecond(60 * number - 30) AS time, 3 AS open, 3 AS high, 1 AS low, 1 AS close FROM numbers(11)';
const charts = dashboard(
  'charts',
  [
    panel(1, 'timeseries', BUCKETS.replace('{}', '0'), { fieldConfig: bars }),
    panel(2, 'timeseries', BUCKETS.replace('{}', 'number = 4'), { fieldConfig: bars }),
    panel(3, 'candlestick', CANDLES),
  ],
  { tags: ['figures', 'time'] },
);

const LONG = "repeat('some words ', 30)";
const tables = dashboard(
  'tables',
  [
    panel(1, 'table', `SELECT number AS id, 99.95 + number / 20 AS part, ${LONG} AS text FROM numbers(6)`, {
      fieldConfig: {
        defaults: {},
        overrides: [
          {
            matcher: { id: 'byName', options: 'part' },
            properties: [
              { id: 'decimals', value: 1 },
              { id: 'custom.footer', value: { reducers: ['max', 'count'] } },
              { id: 'custom.cellOptions', value: { type: 'gauge' } },
            ],
          },
          {
            matcher: { id: 'byName', options: 'id' },
            properties: [{ id: 'links', value: [{ title: 'Choose', url: '/d/tables?var-chosen=${__value.raw}' }] }],
          },
        ],
      },
    }),
    panel(2, 'table', `SELECT ${LONG} AS text, number + 7 AS number, 1 AS other FROM numbers(1)`, {
      options: { footer: { show: true, reducer: ['sum'], fields: ['number'] } },
    }),
    panel(
      3,
      'timeseries',
      `SELECT $__fromTime AS time, 'a series with a name that is long' AS name, -1234567 AS value`,
      {
        options: { legend: { displayMode: 'table', calcs: ['min', 'max', 'lastNotNull'] } },
      },
    ),
  ],
  {
    tags: ['figures'],
    links: [{ type: 'dashboards', title: '', tags: ['figures'], includeVars: true }],
    templating: { list: [custom('chosen', '0, 1, 2')] },
  },
);

beforeAll(async () => {
  [browser, viewer] = await Promise.all([
    startChromium(),
    startViewer(
      host.database,
      folderOf({
        ...files,
        'shared.json': shared,
        'charts.json': charts,
        'tables.json': tables,
        'limited.json': limited,
      }),
    ),
  ]);
});
afterAll(() => browser?.close());

async function open(path: string): Promise<{ page: Page; problems: string[] }> {
  const { page, problems } = await openPage(browser, `${viewer.url}/d/${path}`);
  await page.setViewportSize({ width: 1440, height: 2400 });
  await loaded(page);
  return { page, problems };
}

const partOf = (page: Page, key: number | string, part: string) => page.locator(`[data-panel="${key}"] ${part}`);
const cellsOf = async (page: Page, key: number | string) =>
  (await partOf(page, key, 'tbody td').allInnerTexts()).map((text) => text.trim());

describe("a panel's own time", () => {
  it('is asked for, shown beside the title, and named where it is not supported', async () => {
    const { page } = await open('times');
    const cells = await Promise.all([1, 2, 3, 4].map((id) => cellsOf(page, id)));
    expect(cells).toEqual([
      ['60', '0'],
      ['30', '0'],
      ['120', '48'],
      ['60', '24'],
    ]);
    const notes = await Promise.all([1, 2, 3, 4].map((id) => partOf(page, id, '.note').innerText()));
    expect(notes).toEqual(['', 'Last 30 minutes', 'Last 2 hours, timeshift -2d', '']);
    expect(await partOf(page, 5, '.failure').innerText()).toContain('does not support timeFrom "now/f"');
    await page.context().close();
  });

  it('leaves an absolute time range as it is, but for the shift', async () => {
    const to = Math.floor(Date.now() / 1000) * 1000;
    const { page } = await open(`times?from=${to - 600_000}&to=${to}`);
    expect((await cellsOf(page, 2))[0]).toBe('10');
    expect(await partOf(page, 2, '.note').innerText()).toBe('');
    expect(await cellsOf(page, 3)).toEqual(['10', '48']);
    expect(await partOf(page, 3, '.note').innerText()).toBe('timeshift -2d');
    await page.context().close();
  });
});

const titlesOf = (page: Page) => page.locator('.panel h2').allInnerTexts();
const boxOf = async (page: Page, key: string) => {
  const box = await page.locator(`[data-panel="${key}"]`).boundingBox();
  return { x: Math.round(box?.x ?? 0), y: Math.round(box?.y ?? 0), width: Math.round(box?.width ?? 0) };
};

describe('a repeated panel', () => {
  it('is drawn for each value, with its title, and asks for that value', async () => {
    const { page, problems } = await open('repeats');
    expect(await titlesOf(page)).toEqual([
      'CPU of Host A in x, yy',
      'CPU of Host B in x, yy',
      'CPU of Host C in x, yy',
      'Text',
      'Panel 4',
      'Panel 4',
    ]);
    const cells = await Promise.all(
      ['a%20b', 'b%26c', '%3Ci%3Ec%3C%2Fi%3E'].map((host) => cellsOf(page, `1/host=${host}`)),
    );
    expect(cells.map(([host]) => host)).toEqual(['a b', 'b&c', '<i>c</i>']);
    const [a, b, c] = await Promise.all(
      ['a%20b', 'b%26c', '%3Ci%3Ec%3C%2Fi%3E'].map((host) => boxOf(page, `1/host=${host}`)),
    );
    expect([b?.y === a?.y, (b?.x ?? 0) > (a?.x ?? 0), c?.x === a?.x, (c?.y ?? 0) > (a?.y ?? 0)]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('is repeated with its row; a row hides the panels of its value only', async () => {
    const { page } = await open('repeats');
    expect(await page.locator('.row-toggle').allInnerTexts()).toEqual(['▾ Zone x', '▾ Zone yy']);
    expect(await partOf(page, '4/zone=x', '.value').innerText()).toBe('1');
    expect(await partOf(page, '4/zone=yy', '.value').innerText()).toBe('2');
    await page.locator('.row-toggle').first().click();
    expect(await page.locator('[data-panel^="4/"]').count()).toBe(1);
    await page.locator('.row-toggle').first().click();
    expect(await page.locator('[data-panel^="4/"]').count()).toBe(2);
    await page.context().close();
  });

  it('follows the chosen values, and fills the page at its permalink', async () => {
    const { page } = await open('repeats?var-host=b%26c&var-zone=yy');
    expect(await titlesOf(page)).toEqual(['CPU of Host B in yy', 'Text', 'Panel 4']);
    const host = page.locator('#variable-host');
    await host.focus();
    for (const key of ['Enter', 'Tab', 'Tab', 'Space', 'Escape']) await page.keyboard.press(key);
    await expect.poll(() => titlesOf(page)).toEqual(['CPU of Host A in yy', 'CPU of Host B in yy', 'Text', 'Panel 4']);
    expect(await host.innerText()).toBe('Host A, Host B');
    await page.locator('#variable-zone').click();
    await page.locator('#variable-zone + .options').getByLabel('All').check();
    await page.getByRole('heading', { name: 'Text' }).click();
    await expect.poll(() => titlesOf(page)).toContain('CPU of Host A in x, yy');
    await page.goBack();
    await expect.poll(() => titlesOf(page)).toContain('CPU of Host A in yy');
    await page.locator('[data-panel="1/host=a%20b"]').hover();
    await page.locator('[data-panel="1/host=a%20b"]').getByTitle('Full screen').click();
    const address = page.url();
    expect(new URL(address).searchParams.get('viewPanel')).toBe('1/host=a%20b');
    await page.goto(address);
    await expect.poll(() => page.locator('.panel.full h2').allInnerTexts()).toEqual(['CPU of Host A in yy']);
    await page.context().close();
  });
});

describe('a link or text with variables', () => {
  it('has their values: encoded in links, as text elsewhere', async () => {
    const { page } = await open('repeats');
    const links = page.locator('[data-panel="1/host=b%26c"] .links a');
    expect(await links.allInnerTexts()).toEqual(['Logs of Host B']);
    expect(await links.first().getAttribute('href')).toBe(
      `${viewer.url}/d/repeats?var-host=b%26c&t=Host%20B&from=now-1h&to=now`,
    );
    expect(await page.locator('.row-heading > a').last().getAttribute('href')).toBe(
      `${viewer.url}/d/repeats?var-zone=yy`,
    );
    expect(await partOf(page, 2, '.body').innerText()).toBe('Hosts: a b, b&c, <i>c</i>, Host A, Host B, Host C');
    await links.first().click();
    await expect.poll(() => titlesOf(page)).toContain('CPU of Host B in x, yy');
    await expect.poll(() => page.locator('[data-panel^="1/"]').count()).toBe(1);
    await page.context().close();
  });
});

describe('a dashboard that was exported for sharing', () => {
  it('has its constants, and the options of its variables filtered and in order', async () => {
    const { page } = await open('shared');
    const optionsOf = (name: string) =>
      page.locator(`#variable-${name} option`).evaluateAll((options) => options.map((one) => one.textContent));
    expect(await optionsOf('host')).toEqual(['web-10', 'web-9', 'db-2', 'db-1']);
    expect(await optionsOf('number')).toEqual(['web', 'web', 'db', 'db']);
    expect((await cellsOf(page, 3))[0]).toMatch(/^(1|2|9|10)$/);
    const tiles = await page.locator('[data-panel="1"] .tile').allInnerTexts();
    expect(tiles.map((text) => text.replace(/\s+/g, ' '))).toEqual([
      'things (Min) 1',
      'things (Median) 5',
      'things (Total) 45',
    ]);
    expect(await partOf(page, 2, '.body').innerText()).toBe(
      'The viewer does not support the calculation uniqueValues.',
    );
    await page.context().close();
  });

  it('names the variable whose regex takes too long, and draws the rest', async () => {
    const { page } = await open('shared');
    expect(await page.locator('.control', { hasText: 'slow' }).getAttribute('title')).toBe(
      'the regex "/^(a+)+$/" takes longer than 100 ms',
    );
    expect(await partOf(page, 4, '.failure').innerText()).toContain('the variable slow has no value: the regex');
    await page.context().close();
  });
});

describe('a variable', () => {
  it('keeps its value when the page is refreshed, wherever the list has it then', async () => {
    const { page } = await open('limited');
    const [request] = await Promise.all([
      page.waitForRequest(/variables$/),
      page.getByRole('button', { name: 'Refresh now (r)' }).click(),
    ]);
    expect(request.postDataJSON()).toMatchObject({ variables: { name: ['x'] } });
    await page.context().close();
  });

  it('has any value that its query has, and the page says so of one that it does not have', async () => {
    const { page } = await open('limited?var-name=z');
    expect(await cellsOf(page, 1)).toEqual(['z']);
    expect(await page.locator('#variable-name').inputValue()).toBe('z');
    const problem = page.getByRole('alert');
    expect(await problem.isHidden()).toBe(true);
    await page.goto(`${viewer.url}/d/limited?var-name=none`);
    await loaded(page);
    expect(await problem.innerText()).toBe(
      'name: the address names "none", which is not one of the values; shown is "x"',
    );
    await page.locator('#variable-name').selectOption('y');
    await expect.poll(() => cellsOf(page, 1)).toEqual(['y']);
    expect(await problem.isHidden()).toBe(true);
    await page.context().close();
  });

  it('that changes hides what was drawn for its former value', async () => {
    const { page } = await open('limited');
    const asked = deferred<() => void>();
    await page.route(/panels[/]1[/]data$/, (route) => asked.resolve(() => void route.continue()));
    await page.locator('#variable-name').selectOption('y');
    const answer = await asked.promise;
    expect(await partOf(page, 1, '.body > *').first().isHidden()).toBe(true);
    answer();
    await expect.poll(() => cellsOf(page, 1)).toEqual(['y']);
    expect(await partOf(page, 1, '.body > *').first().isVisible()).toBe(true);
    await page.context().close();
  });
});

/** The lengths of the runs of true. */
const runsOf = (columns: readonly boolean[]): number[] =>
  columns
    .map((is) => (is ? 'x' : ' '))
    .join('')
    .split(/ +/)
    .map(({ length }) => length)
    .filter((length) => length > 0);

describe('a chart over time', () => {
  it('without anything to draw says so, and shows what is missing; a candle is drawn as a whole at both ends', async () => {
    const { page, problems } = await open('charts?from=1763719200000&to=1763719800000');
    expect(await partOf(page, 1, '.body').innerText()).toBe('no trade');
    expect(await partOf(page, 1, 'canvas').count()).toBe(0);
    expect(await partOf(page, 2, '.empty').innerText()).toBe('no trade');
    expect(await partOf(page, 2, '.legend').innerText()).toBe('missing');
    // Hatching and falling candles have the same color.
    const [hatched, candles] = await Promise.all([2, 3].map((id) => columnsIn(page, id, [0xf2, 0x49, 0x5c])));
    expect(hatched).toContain(true);
    const widths = runsOf(candles ?? []);
    expect(widths).toHaveLength(11);
    expect(Math.max(...widths) - Math.min(...widths)).toBeLessThanOrEqual(2);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

it('has the tooltip of the candle under the pointer, in its right half too', async () => {
  const { page, problems } = await open('charts?from=1763719200000&to=1763719800000');
  const over = partOf(page, 3, '.u-over');
  await over.waitFor();
  const { width = 0, height = 0 } = (await over.boundingBox()) ?? {};
  // 11 candles of 60 s from 09:59:30; the sixth is that of 10:04:30.
  for (const seconds of [305, 330, 355]) {
    await over.hover({ position: { x: (width * seconds) / 660, y: height / 2 } });
    await page.locator('.tooltip:visible', { hasText: '10:04:30' }).waitFor();
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

describe('a table at 360 pixels', () => {
  it('has low rows, bars that begin at one place, and marks the row of the chosen values; its legend cuts no number', async () => {
    const { page, problems } = await open('tables?var-chosen=2');
    await page.setViewportSize({ width: 360, height: 2400 });
    await page.getByTitle('Show or hide').waitFor();
    const measured = (key: number, part: string, side: 'height' | 'left') =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('[data-panel="${key}"] ${part}')].map((one) => Math.round(one.getBoundingClientRect().${side}))`,
      );
    expect(Math.max(...(await measured(1, 'tr', 'height')))).toBeLessThan(70);
    // One record is shown as a whole.
    expect(Math.max(...(await measured(2, 'tr', 'height')))).toBeGreaterThan(100);
    expect(new Set(await measured(1, '.gauge', 'left')).size).toBe(1);
    expect(await page.locator('tr[aria-current] a').allInnerTexts()).toEqual(['2']);
    await partOf(page, 1, 'tr:nth-child(2) a').click();
    await expect.poll(() => page.locator('tr[aria-current] a').allInnerTexts()).toEqual(['1']);
    const numbers = partOf(page, 3, '.legend td.number');
    expect(await numbers.allInnerTexts()).toEqual(['−1,234,567', '−1,234,567', '−1,234,567']);
    const cut = await partOf(page, 3, '.legend').evaluateAll((all) =>
      all.map((one) => one.scrollWidth - one.clientWidth),
    );
    expect(cut).toEqual([0]);
    const footer = (key: number) => partOf(page, key, 'tfoot td').allInnerTexts();
    expect(await footer(1)).toEqual(['Max', '100.2', '', 'Count', '6', '']);
    expect(await footer(2)).toEqual(['Total', '7', '']);
    // To the other dashboards with its tag.
    const links = page.locator('.top .bar a[href*="/d/"]');
    expect(await links.allInnerTexts()).toEqual(['Dashboard charts']);
    expect(await links.first().getAttribute('href')).toContain('/d/charts?var-chosen=1');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
