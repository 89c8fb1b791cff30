import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventListing, FirstPageRequest, Mover } from '../../viewer/first-page.js';
import { dashboardFolder, type ViewerServer } from '../../viewer/index.js';
import { ago, eventSeen, searchPoll, tick, WarehouseData } from '../sql/warehouse-data.js';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { expectSound, narrowInOtherTheme } from './accessibility.js';
import { openPage } from './open-page.js';
import { ask, startViewer } from './viewer-rig.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const LAST_TICK = ago(60);
const host = useDatabase({ migrated: true });
let viewer: ViewerServer;
let browser: Awaited<ReturnType<typeof startChromium>>;

beforeAll(async () => {
  const data = new WarehouseData(host.database);
  const closesIn = (seconds: number) => ago(-seconds);
  const event = (id: string, title: string, seenAgo: number, fields: Record<string, unknown>) =>
    eventSeen(id, ago(seenAgo), { title, ...fields });
  await data.insert('event_observations', [
    event('cup', 'Which club wins the <b>Cup</b>?', 10, {
      markets: ['red', 'blue'],
      category: 'football',
      tags: ['Sport', 'Clubs'],
      closes_at: closesIn(2 * HOUR),
      volume_24h: 12_345,
    }),
    event('rain', 'Will it rain?', 10, {
      markets: ['yes'],
      category: 'weather',
      volume_24h: 20,
      closes_at: closesIn(90 * HOUR),
    }),
    event('past', 'Who won?', 600, { markets: ['won', 'lost'], category: 'football', closes_at: ago(300) }),
  ]);
  await data.insert('polls', [searchPoll(ago(11))]);
  const market = (id: string, of: string, name: string, yes_price: number) => ({
    ...{ market: id, event: of, name, yes_price, received_at: ago(10), poll_id: 'p' },
  });
  await data.insert('market_observations', [
    market('red', 'cup', 'Red', 0.3),
    market('blue', 'cup', 'Blue', 0.6),
    market('yes', 'rain', 'Yes', 0.2),
    market('won', 'past', 'Ann', 0.9),
    market('lost', 'past', 'Bob', 0.1),
  ]);
  await data.insert('price_ticks', [
    tick('red', ago(5 * HOUR), 0.5, { event: 'cup', _offset: 1001 }),
    tick('red', LAST_TICK, 0.3, { event: 'cup', _offset: 1002 }),
    tick('blue', ago(5 * HOUR), 0.55, { event: 'cup' }),
    tick('blue', ago(60), 0.6, { event: 'cup' }),
    tick('yes', ago(60), 0.2, { event: 'rain' }),
    tick('won', ago(5 * HOUR), 0.5, { event: 'past' }),
    tick('won', ago(250), 0.98, { event: 'past' }),
    tick('won', ago(200), 1, { event: 'past', bid: null, ask: null }),
    tick('lost', ago(200), 0, { event: 'past', bid: null, ask: null }),
  ]);
  const record = (_offset: number, body: string, body_expires_at: string) => ({
    ...{ _topic: 'chancery.order-book', _offset, received_at: ago(60), session_id: 's', sequence: _offset },
    ...{ kind: 'order-book.frame', body_bytes: 16, body, body_expires_at },
  });
  await data.insert('raw_records', [record(1001, '{"old frame":"1"}', ago(-HOUR)), record(1002, '', ago(30))]);
  [browser, viewer] = await Promise.all([startChromium(), startViewer(host.database, dashboardFolder())]);
});
afterAll(() => browser?.close());

async function events(request: FirstPageRequest): Promise<EventListing> {
  const answer = await ask(`${viewer.url}/api/events`, { body: request });
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text) as EventListing;
}
const found = async (search: string) => (await events({ list: 'open', search })).events.map(({ event }) => event);

describe('the first page', () => {
  it('lists open events by volume, those that close within a day, and resolved ones with what they were resolved as', async () => {
    const open = await events({ list: 'open', search: '' });
    expect(open.counts).toEqual({ open: 2, closing: 1, resolved: 1 });
    expect(open.events).toMatchObject([
      { event: 'cup', category: 'football', markets: 2, volume24h: 12_345, outcome: 'Blue', price: 0.6, basis: '' },
      { event: 'rain', category: 'weather', markets: 1, volume24h: 20, outcome: '', price: 0.2, basis: '' },
    ]);
    expect(open.events.map(({ endedAt }) => endedAt)).toEqual([null, null]);
    expect((await events({ list: 'closing', search: '' })).events.map(({ event }) => event)).toEqual(['cup']);
    const resolved = await events({ list: 'resolved', search: '' });
    expect(resolved.events).toMatchObject([{ event: 'past', outcome: 'Ann', basis: 'final chance', price: null }]);
    expect(Math.abs((resolved.events[0]?.endedAt ?? 0) - (Date.now() - 200_000))).toBeLessThan(60_000);
  });

  it('finds events by words of title, category, tags and ID, in any case', async () => {
    expect(await found('CLUB cup')).toEqual(['cup']);
    expect(await found('weather')).toEqual(['rain']);
    expect(await found('clubs')).toEqual(['cup']);
    expect(await found('cup rain')).toEqual([]);
    expect(await events({ list: 'open', search: 'cup' })).toMatchObject({
      counts: { open: 1, closing: 1, resolved: 0 },
      hasEvents: true,
    });
    expect(await events({ list: 'open', search: 'cup rain' })).toMatchObject({
      counts: { open: 0, closing: 0, resolved: 0 },
      hasEvents: true,
    });
    expect(await found("' OR 1 = 1 -- \\")).toEqual([]);
    const long = await ask(`${viewer.url}/api/events`, { body: { list: 'open', search: 'x'.repeat(201) } });
    expect(long.status).toBe(400);
    expect((await ask(`${viewer.url}/api/events`, { body: { list: 'all', search: '' } })).status).toBe(400);
  });

  it('has the markets without a known resolution that moved most in 24 hours', async () => {
    const movers = JSON.parse((await ask(`${viewer.url}/api/movers`)).text) as Mover[];
    expect(movers.map(({ market, price, before }) => [market, price, before])).toEqual([
      ['red', 0.3, 0.5],
      ['blue', 0.6, 0.55],
    ]);
  });

  it('draws them as text, in both themes and widths, and opens an event', async () => {
    const { page, problems } = await openPage(browser, viewer.url);
    const rows = page.getByRole('region', { name: 'Events' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.first().innerText()).toContain('Which club wins the <b>Cup</b>?');
    expect(await rows.first().innerText()).toContain('60.0%');
    await expect
      .poll(() => page.getByRole('region', { name: 'Largest moves of the last 24 hours' }).locator('tbody').innerText())
      .toMatch(/−20\.0$/m);
    await expectSound(page);
    expect(await rows.first().innerText()).not.toContain('Leading:');
    await narrowInOtherTheme(page);
    await expectSound(page);
    expect(await rows.first().innerText()).toContain('Leading: Blue · 12,345 USDC in 24 h');
    await page.getByRole('button', { name: 'Resolved' }).click();
    await expect
      .poll(() => rows.allInnerTexts())
      .toEqual([expect.stringMatching(/Who won\?\s+Resolved as Ann, by final chance/)]);
    // At its end, not at the present.
    const link = new URL((await rows.first().getByRole('link').getAttribute('href')) ?? '', viewer.url);
    const range = ['from', 'to'].map((name) => Number(link.searchParams.get(name)));
    expect(range[1]).toBe((range[0] ?? 0) + 3_660_000);
    const cut = `(() => {
      const closed = document.querySelector('.home tbody td:nth-child(3)');
      closed.textContent = '59 min ago';
      return closed.scrollWidth - closed.clientWidth;
    })()`;
    expect(await page.evaluate(cut)).toBe(0);
    await page.locator('#search').fill('nothing like it');
    await page.getByText('no resolved event has these words').waitFor();
    await page.locator('#search').fill('');
    await page.getByRole('button', { name: 'Open' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await page.locator('#search').fill('club');
    await expect.poll(() => rows.count()).toBe(1);
    await page.locator('#search').press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    expect(await page.locator('#search:focus').count()).toBe(1);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/d\/chancery-event\?(?:[^#]*&)?var-event=cup/);
    await page.goBack();
    await expect.poll(() => rows.count()).toBe(2);
    // At once: the list is still that of the search before.
    await page.locator('#search').fill('rain');
    await page.locator('#search').press('Enter');
    await page.waitForURL(/\/d\/chancery-event\?(?:[^#]*&)?var-event=rain/);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

it('shows the last trade of a resolved market, and not the step to 1, which is none', async () => {
  const { page, problems } = await openPage(
    browser,
    `${viewer.url}/d/chancery-market-overview?refresh=&var-event=past&var-market=won`,
    // High enough for all panels: one out of view asks nothing.
    { height: 2600 },
  );
  const textOf = (id: number) => page.locator(`[data-panel="${id}"] .body`).innerText();
  await expect.poll(() => textOf(1)).toBe('Last trade\n0.98 USDC\nBest bid\nnone\nBest ask\nnone');
  await expect.poll(() => textOf(3)).toBe('48 points');
  await expect.poll(() => textOf(12)).toMatch(/Ann\tclosed\t98\.0%/);
  await expect.poll(() => textOf(9)).toContain('Which club wins');
  expect(await textOf(9)).not.toContain('Who won?');
  expect(problems).toEqual([]);
  await page.context().close();
});

it('goes from a candle to its ticks, and from a tick to its raw record', async () => {
  // The day of the last tick, which is the whole chart.
  const day = 1000 * DAY * Math.floor(Date.parse(`${LAST_TICK}Z`) / (1000 * DAY));
  const { page, problems } = await openPage(
    browser,
    `${viewer.url}/d/chancery-market-overview?from=${day}&to=${day + 1000 * DAY - 1}&var-event=cup&var-market=red&var-candle=${DAY}`,
  );
  await page.locator('[data-panel="5"] .u-over').waitFor();
  await expectSound(page);
  await page.locator('[data-panel="5"] .u-over').click();
  await page.waitForURL(/\/d\/chancery-ticks\?from=\d+&.*var-candle=86400&var-shown=candle/);
  const ticks = page.locator('[data-panel="1"] tbody tr');
  await expect.poll(() => ticks.count()).toBeGreaterThan(0);
  const body = page.locator('[data-panel="2"] tbody tr').last();
  await expect.poll(() => body.innerText()).toMatch(/deleted at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
  await page.goto(`${viewer.url}/d/chancery-ticks?from=now-24h&to=now&var-event=cup&var-market=red`);
  await expect.poll(() => ticks.count()).toBe(2);
  await ticks.last().getByRole('link').first().click();
  await expect.poll(() => body.innerText()).toContain('{"old frame":"1"}');
  await expectSound(page);
  expect(problems).toEqual([]);
  await page.context().close();
});
