import type { Browser } from 'playwright-core';
import { ApiKey, ExchangeClient } from '../../client/index.js';
import { type OrderTarget, TradingClient } from '../../client/trading/index.js';
import { Random, Secret } from '../../core/index.js';
import type { ReadyLine } from '../../exchange/index.js';
import { until } from '../../test/support/until.js';
import { openPage } from '../../test/viewer/open-page.js';
import type { LiveInstance } from '../live-instance.js';

const DEPOSIT_USDC = 1_000_000;
/** Between two orders in the market of the page, milliseconds. */
const MIN_WAIT_MS = 300;
const MAX_WAIT_MS = 1100;
/** Between two orders in other markets. */
const OTHERS_EVERY_MS = 50;
const MAX_OTHER_CENTS = 40;

/** Notes every value of the best bid when it has been painted, by the clock of this machine. */
const WATCH = `(() => {
  const bids = [];
  const read = () => {
    const tile = [...document.querySelectorAll('[data-panel="1"] .tile')].find((one) => one.textContent.includes('Best bid'));
    const bid = parseFloat(tile?.querySelector('.value')?.textContent ?? '');
    if (bid > (bids.at(-1)?.bid ?? 0)) requestAnimationFrame(() => setTimeout(() => bids.push({ bid, at: Date.now() })));
  };
  new MutationObserver(read).observe(document.querySelector('[data-panel="1"] .body'), { childList: true, subtree: true, characterData: true });
  globalThis.bids = bids;
})()`;

interface WireEvent {
  readonly id: string;
  readonly outcomes: readonly { readonly marketId: string; readonly yesId: string }[];
}

/**
 * Bids, each higher than the one before, in the market that a page shows, while others are placed in other markets.
 * @returns milliseconds from the moment at which each order was sent until its price was on the screen
 */
export async function measureScreen(instance: LiveInstance, browser: Browser, orders: number): Promise<number[]> {
  const { url, accounts } = instance.exchange as unknown as ReadyLine;
  const [account] = accounts;
  if (!account) throw new Error('the exchange has no account');
  await instance.control('/deposits', { userId: account.userId, amount: DEPOSIT_USDC });
  const client = new ExchangeClient({ addresses: { base: url }, requestsPerSecond: 1000, concurrency: 8 });
  const trading = new TradingClient(client, { apiKey: new ApiKey(account.apiKey, new Secret(account.apiSecret)) });
  try {
    const [own, ...others] = await targetsOf(client, url);
    if (!own) throw new Error('the exchange has no market');
    const chosen = `var-event=${own.eventId}&var-market=${own.marketId}`;
    const { page } = await openPage(browser, `${instance.viewerUrl}/d/chancery-market-overview?${chosen}`);
    await page.locator('[data-panel="1"] .body > *').waitFor();
    await page.evaluate(WATCH);
    const random = new Random(1, 'screen');
    const busy = setInterval(() => {
      const target = others[random.integer(0, others.length - 1)];
      if (target) void bid(trading, target, random.integer(1, MAX_OTHER_CENTS)).catch(() => undefined);
    }, OTHERS_EVERY_MS);
    const sent: number[] = [];
    for (let cents = 1; cents <= orders; cents++) {
      await page.waitForTimeout(random.integer(MIN_WAIT_MS, MAX_WAIT_MS));
      sent.push(Date.now());
      await bid(trading, own, cents);
    }
    await until(() => page.evaluate<boolean>(`globalThis.bids.at(-1)?.bid >= ${orders / 100}`));
    clearInterval(busy);
    const drawn = await page.evaluate<{ bid: number; at: number }[]>('globalThis.bids');
    await page.context().close();
    return sent.map((at, i) => {
      const shown = drawn.find((one) => Math.round(100 * one.bid) >= i + 1);
      if (!shown) throw new Error(`the bid of ${i + 1} cents was never drawn`);
      return shown.at - at;
    });
  } finally {
    await client.close();
  }
}

const bid = (trading: TradingClient, target: OrderTarget, cents: number) =>
  trading.placeLimitOrder({ ...target, side: 'BUY', price: (cents / 100).toFixed(2), quantity: '1' });

/** The YES of one market of each event. */
async function targetsOf(client: ExchangeClient, url: string): Promise<OrderTarget[]> {
  const quoteAssetId = (await client.coins()).items.find(({ ticker }) => ticker === 'USDC')?.coinId ?? '';
  const answer = await fetch(`${url}/api/events/search?size=100`, { method: 'POST' });
  const { content } = (await answer.json()) as { content: readonly WireEvent[] };
  return content.flatMap(({ id, outcomes: [market] }) =>
    market ? [{ eventId: id, marketId: market.marketId, assetId: market.yesId, quoteAssetId }] : [],
  );
}
