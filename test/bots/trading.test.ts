import { describe, expect, it } from 'vitest';
import type { BotFleet } from '../../bots/index.js';
import { concurrentIt } from '../support/at-end.js';
import { startTestExchange, type TestExchange, type TestExchangeOptions } from '../support/exchange.js';
import { freePort } from '../support/free-ports.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { startFleet } from './support.js';

const BOTS = 8;
/** Fast enough for a test, and not the exchange's pace: its events stay open. */
const PACE = 30;
/** How many trades of a market are its first, and how far from its opening chance their prices may be. */
const FIRST_TRADES = 5;
const NEAR = 0.1;

async function trading(options: TestExchangeOptions = {}): Promise<TestExchange & { fleet: BotFleet }> {
  const server = await startTestExchange({ events: 3, bots: BOTS, ...options });
  const fleet = await startFleet({ url: server.url, accounts: server.core.botAccounts(), pace: PACE });
  return { ...server, fleet };
}

const fillsOf = ({ core }: TestExchange) => [...core.fillsAfter(0)];
const usersOf = ({ core }: TestExchange) => core.botAccounts().map(({ userId }) => userId);
const ordersOf = (server: TestExchange) =>
  usersOf(server).flatMap((user) => server.core.orders(user, { page: 0, size: 1e6 }).items);
const tpslOf = (server: TestExchange) => usersOf(server).flatMap((user) => server.core.tpslOrders(user));

/** Requests that were answered with 200, by path; bots ask for no list of TP/SL orders, so there each placed one. */
async function placedOverHttp({ server }: TestExchange): Promise<ReadonlyMap<unknown, number>> {
  const { values } = await server.metrics.requests.get();
  return new Map(
    values.filter(({ labels }) => labels.status === '200').map(({ labels, value }) => [labels.route, value]),
  );
}

// They trade on one exchange, in the order of these tests, since rare actions take a while to occur.
describe('bots', async () => {
  const server = await trading();

  it('use TP/SL orders, of which some fire and some are cancelled', async () => {
    const statuses = () => new Set(tpslOf(server).map(({ status }) => status));
    await until(() => statuses().has('TRIGGERED') && statuses().has('CANCELLED'));
    const { orderId, userId } = tpslOf(server).find(({ status }) => status === 'TRIGGERED') ?? {};
    const sale = fillsOf(server).find(({ sellOrderId, buyOrderId }) =>
      [sellOrderId, buyOrderId].includes(orderId ?? ''),
    );
    expect([sale?.seller, sale?.buyer]).toContain(userId);
    expect(server.core.truth().identity.balanced).toBe(true);
  });

  it('continue through 429, 500, resets, truncated responses, frozen and broken streams', async () => {
    await until(() => fillsOf(server).length > 20);
    const faults = [
      { kind: 'http-429', count: 2 },
      { kind: 'http-500', stream: 'rest', count: 10 },
      { kind: 'http-reset', stream: 'rest', count: 10 },
      { kind: 'truncated-body', stream: 'rest', count: 10 },
      { kind: 'drop-connection', stream: 'rest', count: 5 },
      { kind: 'slow', stream: 'rest', count: 5, ms: 50 },
      { kind: 'drop-connection', stream: 'balance', count: 3 },
      { kind: 'drop-connection', stream: 'orders', count: 3 },
      { kind: 'drop-connection', stream: 'order-book', count: 1 },
      { kind: 'skip-delta', stream: 'balance', count: 10 },
      { kind: 'duplicate-delta', stream: 'orders', count: 10 },
      { kind: 'malformed-frame', stream: 'balance', count: 5 },
      { kind: 'freeze', stream: 'orders', count: 1, ms: 2000 },
    ];
    for (const fault of faults) expect((await server.control('POST', '/faults', fault)).status).toBe(200);
    await until(async () => (await server.control('GET', '/faults')).body.armed.length === 0);
    const before = fillsOf(server).length;
    await until(() => fillsOf(server).length > before + 50);
    expect(server.core.truth().identity.balanced).toBe(true);
  });

  it('trade by orders over HTTP, and the exchange gets no other orders', async () => {
    const changes = () => [...server.core.pricesAfter(0)];
    await until(() => fillsOf(server).length > 150 && changes().length > 150);
    await server.fleet.stop();
    const fired = () => tpslOf(server).filter(({ orderId }) => orderId !== undefined);
    // A request that was cut when the bots ended may be counted a moment later.
    await until(async () => {
      const placed = await placedOverHttp(server);
      const [limit = 0, market = 0] = [placed.get('/orders/limit'), placed.get('/orders/market')];
      return limit > 50 && market > 20 && limit + market === ordersOf(server).length - fired().length;
    });
    expect((await placedOverHttp(server)).get('/orders/tpsl')).toBe(tpslOf(server).length);
    const known = new Set(ordersOf(server).map(({ orderId }) => orderId));
    for (const { buyOrderId, sellOrderId } of fillsOf(server)) {
      expect(known).toContain(buyOrderId);
      expect(known).toContain(sellOrderId);
    }
    expect(new Set(changes().map(({ marketId }) => marketId)).size).toBe(
      server.core.events().flatMap(({ markets }) => markets).length,
    );
    expect(new Set(fillsOf(server).map(({ kind }) => kind))).toEqual(new Set(['mint', 'merge', 'transfer']));
    const { identity } = server.core.truth();
    expect(identity).toMatchObject({ balanced: true, withdrawals: 0 });
  });

  it('stop cleanly, and send no requests afterwards', async () => {
    await server.fleet.stop();
    const total = async () => {
      const { values } = await server.server.metrics.requests.get();
      return values.reduce((sum, { value }) => sum + value, 0);
    };
    await until(async () => (await server.server.metrics.sockets.get()).values.every(({ value }) => value === 0));
    const ask = async (times: number) => {
      for (let n = 0; n < times; n++) await server.get('/api/coins');
    };
    // A request that was cut when the bots ended is counted before many later ones are answered.
    await ask(100);
    const before = await total();
    // Long enough for several turns of every bot.
    await ask(200);
    await until(async () => (await total()) >= before + 200);
    expect(await total()).toBe(before + 200);
  });
});

describe.concurrent('the bots', () => {
  concurrentIt.each([1, 2])(
    'trade near the chance that a market opened with, from the first trade on (seed %i)',
    async (seed) => {
      const server = await trading({ events: 4, seed });
      const markets = server.core.events().flatMap((event) => event.markets);
      const fillsIn = (market: string) => fillsOf(server).filter(({ marketId }) => marketId === market);
      await until(() => markets.every(({ marketId }) => fillsIn(marketId).length >= FIRST_TRADES));
      await server.fleet.stop();
      for (const { marketId, openingChance } of markets) {
        for (const { assetId, price } of fillsIn(marketId).slice(0, FIRST_TRADES)) {
          const isNo = assetId === server.core.market(marketId)?.noAssetId;
          const off = Math.abs((isNo ? 1 - price : price) - openingChance);
          expect(off, `a trade in a market that opened at ${openingChance}`).toBeLessThan(NEAR);
        }
      }
    },
  );

  concurrentIt('move prices near the hidden value that only informed traders know', async () => {
    const server = await startTestExchange({ events: 1, bots: BOTS });
    const [market] = server.core.events()[0]?.markets ?? [];
    const marketId = market?.marketId ?? '';
    const fair = (market?.chance ?? 0) > 0.5 ? 0.2 : 0.8;
    const fairValues = () => new Map([[marketId, fair]]);
    await startFleet({ url: server.url, accounts: server.core.botAccounts(), pace: PACE, fairValues });
    await until(() => Math.abs((server.core.market(marketId)?.chance ?? 0) - fair) < 0.06);
  });

  concurrentIt('trade under a rate limit', async () => {
    const server = await trading({ quirks: 'rate-limit=20' });
    const { requests } = server.server.metrics;
    const limited = async () => (await requests.get()).values.some(({ labels }) => labels.status === '429');
    await until(limited);
    const before = fillsOf(server).length;
    await until(() => fillsOf(server).length > before + 15);
  });

  concurrentIt('resume after an outage of the exchange, with their former orders', async () => {
    const data = temporaryFolder();
    const port = await freePort();
    const first = await startTestExchange({ data, events: 2, bots: BOTS, port });
    const { url, core } = first;
    await startFleet({ url, accounts: core.botAccounts(), pace: PACE });
    await until(() => fillsOf(first).length > 20);
    const before = fillsOf(first).length;
    await first.stop();
    const second = await startTestExchange({ data, events: 2, bots: BOTS, port });
    await until(() => fillsOf(second).length > before + 20);
  });

  concurrentIt('end although their next turns are hours away; the first ones wait for prices', async () => {
    const server = await startTestExchange({ events: 1, bots: BOTS });
    // SUBSCRIBE is handled late: all else is ready before the first prices.
    await server.control('POST', '/faults', { kind: 'slow', stream: 'order-book', count: 1, ms: 300 });
    const fleet = await startFleet({ url: server.url, accounts: server.core.botAccounts(), pace: 1e-4 });
    await until(() => ordersOf(server).length > 0);
    await fleet.stop();
    await until(async () => (await server.server.metrics.sockets.get()).values.every(({ value }) => value === 0));
  });
});
