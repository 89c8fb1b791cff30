import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { type Bus, openEmbeddedBus } from '../../bus/index.js';
import {
  decodeActiveOrders,
  decodeActivity,
  decodeBalances,
  decodeOpenPositions,
  decodeOrders,
  decodeProfileStats,
  decodeTpslOrders,
  decodeTrades,
  decodeTransactions,
} from '../../client/index.js';
import { deferred, type RecordKind, TOPICS } from '../../core/index.js';
import { startAccountMarket } from '../support/account-market.js';
import { atEnd, concurrentIt as it } from '../support/at-end.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { listed, POLL_OFTEN, recordsOfKind } from './account-rig.js';
import { metricOf, startCollector } from './rig.js';

describe.concurrent('a collector with accounts', () => {
  it('records everything that an account may read, each poll with its receipt', async () => {
    const market = await startAccountMarket();
    const { ann, bob, yes } = market;
    const { orderId } = await market.fill('33.33');
    const resting = await ann.trading.placeLimitOrder({ ...yes, side: 'BUY', price: '0.01', quantity: '7' });
    const tpsl = { ...yes, outcome: 'YES' as const, quantity: '5', takeProfitPrice: '0.99' };
    const { tpslId } = await ann.trading.placeTpsl(tpsl);
    const keyOnly = { name: bob.name, ...(bob.credentials.apiKey ? { apiKey: bob.credentials.apiKey } : {}) };
    const rig = await startCollector(market.exchange.url, {
      settings: POLL_OFTEN,
      accounts: [ann.credentials, keyOnly],
    });
    const expected = [
      ...['account.orders', 'account.trades', 'account.positions', 'account.active-orders', 'account.balances'],
      ...['account.tpsl-orders', 'account.profile-stats', 'account.position-stats', 'account.order-frame'],
      'account.balance-frame',
    ].flatMap((kind) => [`${ann.name} ${kind}`, `${bob.name} ${kind}`]);
    const all = new Set([...expected, `${ann.name} account.transactions`, 'undefined account.activity']);
    const found = async () => {
      const records = await rig.records(TOPICS.account);
      return new Set(records.map(({ kind, request: req }) => `${String(req['account'])} ${kind}`));
    };
    await until(async () => (await found()).size >= all.size);
    // Responses precede the receipt of their poll.
    const isOfAccounts = ({ operation }: { operation: string }) => !/event|coins|tags|categor|chance/.test(operation);
    const receipts = async () => {
      const polls = (await rig.events('poll')).filter(isOfAccounts);
      return new Set(polls.map(({ operation, subject }) => `${subject} ${operation}`));
    };
    await until(async () => {
      const had = await receipts();
      return had.has(`${ann.name} full-balances`) && had.has('activity activity');
    });
    await rig.waitForEvents('subscribed', (found) => found.filter((m) => /orders|balance/.test(m.stream)).length >= 4);
    expect([...(await found())].sort()).toEqual([...all].sort());

    const own = async (kind: RecordKind) =>
      (await recordsOfKind(rig, kind)).filter(({ request: req }) => req['account'] === ann.name);
    const [trade] = listed(await own('account.trades'), decodeTrades);
    expect(trade?.item).toMatchObject({ userId: ann.userId, orderId, quantity: '33.33', price: '0.4' });
    const orders = listed(await own('account.orders'), decodeOrders).map(({ item }) => item);
    expect(orders.slice(0, 2)).toMatchObject([
      { orderId: resting.orderId, status: 'ACTIVE' },
      { orderId, status: 'FILLED', filledQuantity: '33.33' },
    ]);
    expect(listed(await own('account.positions'), decodeOpenPositions)[0]?.item).toMatchObject({
      assetId: yes.assetId,
      totalShares: '33.33',
    });
    expect(listed(await own('account.active-orders'), decodeActiveOrders)[0]?.item.orderId).toBe(resting.orderId);
    expect(listed(await own('account.balances'), decodeBalances)[0]?.item).toMatchObject({ ticker: 'USDC' });
    const [seen] = listed(await own('account.tpsl-orders'), decodeTpslOrders);
    expect(seen?.item).toMatchObject({ tpslId, quantity: '5', takeProfitPrice: '0.99' });
    expect(seen?.record.request).toMatchObject({ asset: yes.assetId, query: { status: 'ACTIVE' } });
    expect(listed(await own('account.profile-stats'), decodeProfileStats)[0]?.item).toMatchObject({ me: true });
    expect(listed(await own('account.transactions'), decodeTransactions)[0]?.item.transactionType).toBe('DEPOSIT');
    const activity = await recordsOfKind(rig, 'account.activity');
    expect(new Set(listed(activity, decodeActivity).map(({ item }) => item.userId))).toEqual(new Set([ann.userId]));

    const polls = (await rig.events('poll')).filter(isOfAccounts);
    expect(polls.filter(({ outcome }) => outcome !== 'complete')).toEqual([]);
    expect([...(await receipts())].filter((poll) => poll.endsWith(' activity'))).toHaveLength(1);
    const subscribed = await rig.events('subscribed');
    for (const stream of ['orders', 'balance']) {
      for (const event of [ann.name, bob.name]) {
        expect(subscribed.filter((one) => one.stream === stream && one.event === event)).toHaveLength(1);
      }
    }
  });

  it('misses nothing and reports failures while the exchange limits, breaks and truncates responses', async () => {
    const market = await startAccountMarket();
    const { ann, bob } = market;
    const rig = await startCollector(market.exchange.url, {
      settings: { ...POLL_OFTEN, requestTimeoutMs: 2000 },
      accounts: [ann.credentials, bob.credentials],
    });
    await rig.waitForEvents('subscribed', (found) => found.filter(({ stream }) => stream === 'balance').length === 2);
    for (let round = 0; round < 2; round++) {
      for (const kind of ['http-429', 'http-500', 'http-reset', 'truncated-body']) {
        await market.fault(kind, { stream: 'rest', count: 3 });
      }
      await market.fault('drop-connection', { stream: round === 0 ? 'orders' : 'balance' });
      for (let n = 0; n < 6; n++) await persisting(() => market.fill(`${1 + n}.0${n}`));
    }
    // The traders may have consumed every fault of a kind; now only the collector sends requests.
    const statuses = async () => new Set((await rig.records(TOPICS.account)).map(({ request: req }) => req['status']));
    for (const status of [429, 500]) {
      while (!(await statuses()).has(status)) {
        await market.fault(`http-${status}`, { stream: 'rest', count: 3 });
        await until(async () => (await market.armed()) === 0);
      }
    }
    const fills = market.fills();
    expect(fills.length).toBeGreaterThanOrEqual(12);
    const after = Date.now() * 1000;
    await rig.waitForEvents('poll', (polls) => {
      const done = polls.filter((poll) => poll.startedAt > after && poll.outcome === 'complete');
      const had = new Set(done.map(({ subject, operation }) => `${subject} ${operation}`));
      return [ann, bob]
        .flatMap(({ name }) => ['trades', 'orders', 'open-positions'].map((operation) => `${name} ${operation}`))
        .every((wanted) => had.has(wanted));
    });
    for (const trader of [ann, bob]) {
      const own = async (kind: RecordKind) =>
        (await recordsOfKind(rig, kind)).filter(({ request: req }) => req['account'] === trader.name);
      const trades = listed(await own('account.trades'), decodeTrades);
      const tradeIds = [...new Set(trades.map(({ item }) => item.tradeId))].sort();
      const truth = fills.filter(({ buyer, seller }) => buyer === trader.userId || seller === trader.userId);
      expect(tradeIds).toEqual([...new Set(truth.map(({ tradeId }) => tradeId))].sort());
      const latest = new Map(listed(await own('account.orders'), decodeOrders).map(({ item }) => [item.orderId, item]));
      const actual = [];
      for await (const page of trader.account.walkOrders()) actual.push(...page.items);
      expect([...latest.values()].sort(byOrderId)).toEqual(actual.sort(byOrderId));
      const complete = (await rig.events('poll')).filter(
        (poll) => poll.operation === 'open-positions' && poll.subject === trader.name && poll.outcome === 'complete',
      );
      const last = (await own('account.positions')).filter(
        ({ request: req }) => req['poll'] === complete.at(-1)?.pollId,
      );
      const positions = listed(last, decodeOpenPositions).map(({ item }) => item);
      expect(positions).toEqual((await trader.account.openPositions()).items);
    }
    expect((await rig.events('disconnected')).filter(({ stream }) => /orders|balance/.test(stream)).length).toBe(2);
  });

  it('reads every trade once while new trades shift the pages', async () => {
    const market = await startAccountMarket({ quirks: 'max-page-size=7' });
    const { ann } = market;
    market.fillInEngine(60);
    const rig = await startCollector(market.exchange.url, {
      settings: { ...POLL_OFTEN, requestsPerSecond: 1000 },
      accounts: [ann.credentials],
    });
    const walksOf = <P extends { operation: string }>(polls: readonly P[]) =>
      polls.filter(({ operation }) => operation === 'trades');
    const filledAt: number[] = [];
    // Each burst lasts until after the next walk, but has a limited number of fills: each makes the walks longer, and with
    // them the time in which others happen.
    for (let burst = 0; burst < 3; burst++) {
      await rig.waitForEvents('poll', (polls) => walksOf(polls).length >= burst);
      for (let n = 0; n < 60; n++) {
        market.fillInEngine(1);
        filledAt.push(Date.now() * 1000);
        await delay(25);
      }
    }
    const fills = market.fills();
    const after = Date.now() * 1000;
    const last = await rig.waitForEvents('poll', (polls) =>
      ['trades', 'activity'].every((operation) =>
        polls.some((poll) => poll.operation === operation && poll.startedAt > after),
      ),
    );
    const walks = walksOf(last);
    const disturbed = walks.filter((walk) => filledAt.some((at) => at > walk.startedAt && at < walk.at));
    expect(disturbed.length).toBeGreaterThan(1);
    const [first] = walks;
    expect(first).toMatchObject({ outcome: 'complete', truncated: false });
    expect(first?.pages).toBeGreaterThan(60 / 7);
    const trades = listed(await recordsOfKind(rig, 'account.trades'), decodeTrades).map(({ item }) => item.tradeId);
    expect([...new Set(trades)].sort()).toEqual(fills.map(({ tradeId }) => tradeId).sort());
    const activity = listed(await recordsOfKind(rig, 'account.activity'), decodeActivity);
    expect(new Set(activity.map(({ item }) => item.tradeRecordId)).size).toBe(fills.length);
  });

  it('reads an order again when it has changed, however far back it is', async () => {
    const market = await startAccountMarket();
    const { ann, yes, no } = market;
    const rest = async (price: string) =>
      (await ann.trading.placeLimitOrder({ ...yes, side: 'BUY', price, quantity: '4' })).orderId;
    const [cancelled, filled, untouched] = [await rest('0.02'), await rest('0.03'), await rest('0.01')];
    const { core } = market.exchange;
    for (let n = 0; n < 130; n++) {
      const { eventId, marketId, assetId } = yes;
      const order = { eventId, marketId, assetId, userId: ann.userId, side: 'BUY', price: 1, quantity: 400 } as const;
      const placed = core.placeLimit(order);
      expect(placed.ok && core.cancel(ann.userId, placed.value.orderId).ok).toBe(true);
    }
    const rig = await startCollector(market.exchange.url, { settings: POLL_OFTEN, accounts: [ann.credentials] });
    const states = async () => {
      const orders = listed(await recordsOfKind(rig, 'account.orders'), decodeOrders);
      return new Map(orders.map(({ item }) => [item.orderId, `${item.status} ${item.filledQuantity}`]));
    };
    await until(async () => (await states()).size === 133);
    const books = async () =>
      (await rig.events('poll')).filter(({ operation }) => operation === 'active-orders').length;
    const seen = await books();
    await until(async () => (await books()) >= seen + 2);
    const before = (await rig.events('poll')).filter(({ operation }) => operation === 'orders');
    // Nothing has changed: the front is enough.
    expect(before.slice(1).every(({ pages, subject }) => pages === 1 && subject === ann.name)).toBe(true);
    await market.bob.trading.placeLimitOrder({ ...no, side: 'BUY', price: '0.97', quantity: '1.5' });
    await ann.trading.cancelOrder(cancelled);
    await until(async () => (await states()).get(filled) === 'ACTIVE 1.5');
    await until(async () => (await states()).get(cancelled)?.startsWith('CANCELLED') === true);
    await market.bob.trading.placeLimitOrder({ ...no, side: 'BUY', price: '0.97', quantity: '2.5' });
    await until(async () => (await states()).get(filled) === 'FILLED 4');
    expect((await states()).get(untouched)).toBe('ACTIVE 0');
    const ofMarket = ({ subject }: { subject: string }) => subject === `${ann.name}/${yes.marketId}`;
    const again = (await rig.waitForEvents('poll', (polls) => polls.filter(ofMarket).length >= 2)).filter(ofMarket);
    expect(again.every(({ outcome }) => outcome === 'complete')).toBe(true);
  });

  it('resumes after a restart, also with orders that have changed since', async () => {
    const market = await startAccountMarket();
    const { ann, yes } = market;
    const { orderId } = await ann.trading.placeLimitOrder({ ...yes, side: 'BUY', price: '0.01', quantity: '4' });
    market.fillInEngine(110);
    const options = { settings: POLL_OFTEN, accounts: [ann.credentials] };
    const first = await startCollector(market.exchange.url, options);
    const complete = (operation: string) => (polls: readonly { operation: string; outcome: string }[]) =>
      polls.some((poll) => poll.operation === operation && poll.outcome === 'complete');
    for (const operation of ['trades', 'orders', 'activity']) await first.waitForEvents('poll', complete(operation));
    await first.stop();
    const restartedAt = Date.now() * 1000;
    await ann.trading.cancelOrder(orderId);
    await market.fill();
    const second = await startCollector(market.exchange.url, { ...options, data: first.data, bus: first.bus });
    const polls = async () => (await second.events('poll')).filter((poll) => poll.startedAt > restartedAt);
    for (const operation of ['trades', 'orders', 'activity'])
      await until(async () => complete(operation)(await polls()));
    for (const operation of ['trades', 'activity']) {
      expect((await polls()).find((poll) => poll.operation === operation)).toMatchObject({
        pages: 1,
        receivedItems: 20,
      });
    }
    await until(async () => {
      const orders = listed(await recordsOfKind(second, 'account.orders'), decodeOrders);
      return orders.some(({ item }) => item.orderId === orderId && item.status === 'CANCELLED');
    });
    const trades = listed(await recordsOfKind(second, 'account.trades'), decodeTrades);
    expect(new Set(trades.map(({ item }) => item.tradeId)).size).toBe(111);
    // The state is not valid for another log.
    await second.stop();
    const third = await startCollector(market.exchange.url, {
      ...options,
      data: first.data,
      bus: freshBus(temporaryFolder()),
    });
    await third.waitForEvents('poll', complete('trades'));
    expect((await third.events('poll')).find((poll) => poll.operation === 'trades')).toMatchObject({
      pages: 2,
      receivedItems: 111,
    });
  });
});

describe.concurrent('the stored state of an account', () => {
  it('is written after the bus has acknowledged it, and without the file everything is read again', async () => {
    const market = await startAccountMarket();
    const { ann } = market;
    market.fillInEngine(30);
    const data = temporaryFolder();
    const bus = freshBus(temporaryFolder());
    const { append } = bus;
    const released = deferred();
    bus.append = async (topic, records) => {
      if (topic === TOPICS.account) await released.promise;
      return append.call(bus, topic, records);
    };
    const options = { settings: POLL_OFTEN, accounts: [ann.credentials], data, bus };
    const first = await startCollector(market.exchange.url, options);
    await until(async () => (await metricOf(first.metrics, 'requests_total')) > 8);
    // Longer than a change waits to be written.
    await delay(1500);
    const file = join(data, 'collector', `account-${ann.name}.json`);
    expect(existsSync(file)).toBe(false);
    released.resolve();
    const checkpoint = () => (JSON.parse(readFileSync(file, 'utf8')) as Stored).checkpoints['trades'] ?? [];
    await until(async () => existsSync(file) && checkpoint().length === 30);
    const trades = listed(await recordsOfKind(first, 'account.trades'), decodeTrades);
    expect(new Set(checkpoint())).toEqual(new Set(trades.map(({ item }) => item.tradeRecordId)));
    await first.stop();
    rmSync(file);
    const restartedAt = Date.now() * 1000;
    const second = await startCollector(market.exchange.url, options);
    const isNew = ({ operation, startedAt }: { operation: string; startedAt: number }) =>
      operation === 'trades' && startedAt > restartedAt;
    const [again] = (await second.waitForEvents('poll', (polls) => polls.some(isNew))).filter(isNew);
    expect(again).toMatchObject({ outcome: 'complete', receivedItems: 30 });
  });
});

interface Stored {
  readonly checkpoints: Readonly<Record<string, readonly string[]>>;
}

const byOrderId = (a: { orderId: string }, b: { orderId: string }) => (a.orderId < b.orderId ? -1 : 1);

/** Orders meet the armed faults too. */
async function persisting(work: () => Promise<unknown>): Promise<void> {
  for (let done = false; !done; ) {
    done = await work().then(
      () => true,
      () => false,
    );
  }
}

function freshBus(dir: string): Bus {
  const bus = openEmbeddedBus({ dir, retentionEveryMs: 0 });
  atEnd(() => bus.close());
  return bus;
}
