import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dashboardFolder, type ViewerServer } from '../../viewer/index.js';
import { loadDashboards, panelsOf } from '../dashboards/shipped-dashboards.js';
import { polled, trade } from '../sql/account-data.js';
import { ago, collectorEvent, eventSeen, searchPoll, tick, WarehouseData } from '../sql/warehouse-data.js';
import { startChromium } from '../support/chromium.js';
import { useDatabase } from '../support/database.js';
import { loaded, openPage } from './open-page.js';
import { startViewer } from './viewer-rig.js';

const host = useDatabase({ migrated: true });
/** Of the window: high enough for all panels of the longest dashboard. */
const HEIGHT = 4200;
const MINUTES = 30;
let viewer: ViewerServer;
let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  const started = startChromium();
  await record(new WarehouseData(host.database));
  [browser, viewer] = await Promise.all([started, startViewer(host.database, dashboardFolder())]);
  ({ page, problems } = await openPage(browser, `${viewer.url}/`, { height: HEIGHT }));
});
afterAll(() => browser?.close());

describe('each dashboard', () => {
  it.each(loadDashboards())('is drawn in a browser: $title', async (dashboard) => {
    // Without refreshing: each panel asks once.
    await page.goto(`${viewer.url}/d/${dashboard.uid}?refresh=`);
    await loaded(page);
    const titles = await page.locator('.panel h2').allInnerTexts();
    expect(titles.length).toBeGreaterThanOrEqual(panelsOf(dashboard).length);
    expect(await page.locator('.failure:visible').allInnerTexts()).toEqual([]);
    expect(await page.locator('.panel .body:empty').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(problems).toEqual([]);
  });
});

/** One event with two markets, recorded for half an hour, and an account that traded. */
async function record(data: WarehouseData): Promise<void> {
  const markets = ['red', 'blue'];
  const seconds = MINUTES * 60;
  const event = { title: 'Which club wins the cup?', category: 'football', markets, closes_at: ago(-3600) };
  await data.insert('event_observations', [eventSeen('cup', ago(seconds), event), eventSeen('cup', ago(2), event)]);
  await data.insert('polls', [searchPoll(ago(seconds + 1)), searchPoll(ago(3))]);
  const named = (market: string) => ({ market, event: 'cup', name: market, yes_asset: `${market} yes`, poll_id: 'p' });
  await data.insert(
    'market_observations',
    markets.map((market) => ({ ...named(market), no_asset: `${market} no`, received_at: ago(2), yes_price: 0.5 })),
  );
  await data.insert('collector_events', [
    collectorEvent('s', 1, ago(seconds), 'session-started', { collector: 'office', version: '0.1.0' }),
    collectorEvent('s', 2, ago(seconds), 'subscribed', {
      ...{ stream: 'order-book', connection_id: 'book', event: 'cup', markets },
    }),
    collectorEvent('s', 3, ago(0.5), 'heartbeat'),
  ]);
  const minutes = Array.from({ length: MINUTES }, (_, i) => i);
  await data.insert(
    'price_ticks',
    markets.flatMap((market) =>
      minutes.map((i) => tick(market, ago(60 * i + 1), (40 + (i % 7)) / 100, { event: 'cup' })),
    ),
  );
  const own = { side: 'BUY', market: 'red', event: 'cup', asset: 'red yes', quantity: '10', price: '0.4', page: 0 };
  await data.insert('trade_records', [
    trade('fund', 'fund 1', { ...own, executed_at: ago(600), received_at: ago(3), _index: 1, fee: '0.01' }),
  ]);
  const { receipt, page: read } = polled('trades', 'fund', ago(2));
  await data.insert('polls', [receipt]);
  await data.insert('account_pages', [{ ...read, items: 1, account: 'fund' }]);
}
