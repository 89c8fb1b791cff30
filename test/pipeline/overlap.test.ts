import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExchangeClient } from '../../client/index.js';
import { Random } from '../../core/index.js';
import { until } from '../support/until.js';
import {
  act,
  type TradedMarket,
  type Trader,
  tradedMarketsOf,
  tradersOf,
  withdrawAll,
  writeAccounts,
} from './account-traders.js';
import { OFTEN_POLLED, Rig } from './rig.js';

const ROUNDS = 8;

/** Two collectors with half of the work each; one with all of it joins while they run, and they leave afterwards. */
describe('collectors that overlap for a while', () => {
  const rig = new Rig();
  const random = new Random(8);
  let traders: Trader[] = [];
  let positions: TradedMarket[] = [];
  let exchange: ExchangeClient;

  beforeAll(async () => {
    // So slow that no event ends meanwhile: each is observed by two collectors.
    await rig.startExchange({ seed: 4, events: 6, bots: 6, pace: 0.1 });
    await rig.start('warehouse');
    await rig.start('transform');
    ({ traders, exchange } = tradersOf(rig.exchange));
    const markets = await tradedMarketsOf(exchange);
    positions = [...new Map(markets.map((market) => [market.eventId, market])).values()];
    writeAccounts(join(rig.folder, 'accounts.json'), rig.exchange);
    await Promise.all([collect('west', '0/2'), collect('east', '1/2')]);
    await everythingSeen(1);
    await trade();
    await collect('all', '0/1');
    await everythingSeen(2);
    await trade();
    await polledBy(2);
    await overlapping();
    for (const name of ['west', 'east']) expect(await rig.service(name).stop()).toBe(0);
    await trade();
    for (const trader of traders) await withdrawAll(trader);
    await polledBy(1);
    await rig.drained();
  });
  afterAll(async () => {
    await exchange?.close();
    await rig.close();
  });

  async function collect(name: string, shard: string): Promise<void> {
    const accounts = ['--accounts-file', join(rig.folder, 'accounts.json'), ...OFTEN_POLLED];
    const own = ['--collector-name', name, '--shard', shard, '--requests-per-second', '200'];
    await rig.start('collect', [...own, ...accounts], name);
  }

  async function trade(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.allSettled(traders.map((trader) => act(trader, positions, random)));
    }
  }

  /** Waits until that many collectors observe every event. */
  async function everythingSeen(collectors: number): Promise<void> {
    await until(async () => {
      const [seen] = await rig.rows<{ events: number; least: number }>(`
        SELECT count() AS events, min(n) AS least FROM (
          SELECT event, uniqExact(session_id) AS n FROM coverage WHERE stream = 'order-book' AND state = 'live' GROUP BY event)`);
      return (seen?.events === 6 && seen.least === collectors) || JSON.stringify(seen);
    });
  }

  /** Trades until `west` and `east` have frames from after all subscriptions of `all`: their coverage ends at their last frame. */
  async function overlapping(): Promise<void> {
    await until(async () => {
      await trade();
      const later = await rig.rows<{ collector: string }>(`
        SELECT DISTINCT collector FROM raw_records INNER JOIN (SELECT session_id, collector FROM sessions) AS s USING (session_id)
        WHERE kind = 'order-book.frame' AND collector != 'all' AND received_at > (
          SELECT max(recorded_at) FROM collector_events
          INNER JOIN (SELECT session_id, collector FROM sessions) AS s USING (session_id)
          WHERE collector = 'all' AND type = 'subscribed')`);
      return later.length === 2 || JSON.stringify(later);
    });
  }

  /** Waits until that many collectors have read all orders and trades of an account, from now on. */
  async function polledBy(collectors: number): Promise<void> {
    const since = `toDateTime64('${new Date().toISOString().slice(0, -1)}', 6, 'UTC')`;
    const names = traders.map(({ name }) => `'${name}'`).join(', ');
    await until(async () => {
      const done = await rig.rows<{ sessions: number }>(`
        SELECT subject, operation, uniqExact(session_id) AS sessions FROM polls
        WHERE subject IN (${names}) AND operation IN ('orders', 'trades') AND outcome = 'complete' AND started_at > ${since}
        GROUP BY subject, operation`);
      return (done.length === 6 && done.every(({ sessions }) => sessions >= collectors)) || JSON.stringify(done);
    });
  }

  test('brought records of the same trades, and each trade and order is there once, as the exchange has it', async () => {
    for (const { name, account } of traders) {
      const [twice] = await rig.rows<{ records: number }>(`
        SELECT uniqExact(session_id) AS records FROM raw_records
        WHERE kind = 'account.trades' AND JSONExtractString(request, 'account') = '${name}'`);
      expect(twice).toEqual({ records: 2 });
      const trades: string[] = [];
      for await (const { items } of account.walkTrades()) trades.push(...items.map((item) => item.tradeRecordId));
      expect(trades.length).toBeGreaterThan(0);
      expect(await idsOf('trade_record_id', `trades WHERE account = '${name}'`)).toEqual(trades.sort());
      const orders: string[] = [];
      for await (const { items } of account.walkOrders()) orders.push(...items.map((item) => item.orderId));
      expect(await idsOf('order_id', `orders WHERE account = '${name}'`)).toEqual(orders.sort());
    }
  });

  test.each([
    ['activity', 'trade_record_id'],
    ['transactions', 'account, transaction_id'],
    ['events', 'event'],
    ['markets', 'market'],
    ['chance_history_points FINAL', 'event, market, period, occurred_at'],
  ])('have each of %s once', async (source, id) => {
    const [found] = await rig.rows<{ all: number; different: number }>(
      `SELECT count() AS all, uniqExact(${id}) AS different FROM ${source}`,
    );
    expect(found?.all).toBeGreaterThan(0);
    expect(found?.different).toBe(found?.all);
  });

  test('show by their collector events where prices were recorded twice, and that nothing was missed meanwhile', async () => {
    const twice = await rig.rows<{ event: string; collectors: string[] }>(`
      SELECT event, arraySort(groupUniqArray(collector)) AS collectors FROM coverage
      INNER JOIN (SELECT session_id, collector FROM sessions) AS s USING (session_id)
      WHERE stream = 'order-book' GROUP BY event
      HAVING minIf(begins_at, collector = 'all') < minIf(ends_at, collector != 'all')`);
    expect(twice).toHaveLength(6);
    for (const { collectors } of twice) expect(['all,east', 'all,west']).toContain(collectors.join());
    const duplicate = await rig.value<number>(`
      SELECT count() FROM price_ticks AS t
      INNER JOIN (SELECT _log, _partition, _offset, session_id FROM raw_records WHERE kind = 'order-book.frame') AS r
        USING (_log, _partition, _offset)
      INNER JOIN (SELECT session_id, collector FROM sessions) AS s USING (session_id) WHERE collector = 'all'`);
    expect(duplicate).toBeGreaterThan(0);
    // Before the second of the first two had subscribed, the other had found its events.
    const onTheWay = "SELECT * FROM gaps WHERE stream = 'order-book' AND cause != 'not yet subscribed'";
    expect(await rig.rows(onTheWay)).toEqual([]);
  });

  async function idsOf(id: string, source: string): Promise<string[]> {
    return (await rig.rows<{ id: string }>(`SELECT ${id} AS id FROM ${source}`)).map((row) => row.id).sort();
  }
});
