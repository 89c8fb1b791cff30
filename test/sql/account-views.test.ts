import { beforeAll, describe, expect, it } from 'vitest';
import { TRANSFORM_TABLES } from '../../transforms/tables/index.js';
import { checkColumns } from '../../warehouse/index.js';
import { useDatabase } from '../support/database.js';
import { polled, seen, trade } from './account-data.js';
import { time, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

beforeAll(() => {
  data = new WarehouseData(host.database);
});

const clock = (seconds: number) => time(seconds).replace('T', ' ').padEnd(26, '0');

describe('the tables of accounts', () => {
  it('match the definitions in code', async () => {
    const connection = host.database.connect();
    await checkColumns(connection, TRANSFORM_TABLES);
    await connection.close();
  });

  it('and their views have a comment on every table and column', async () => {
    const tables = await host.database.rows(
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND comment = '' AND engine LIKE '%MergeTree'`,
    );
    const columns = await host.database.rows(
      `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND comment = '' AND table NOT LIKE '%\\_of\\_%'`,
    );
    expect([tables, columns]).toEqual([[], []]);
  });
});

describe('records with an ID', () => {
  it('that are listed again in a later poll change only their last time', async () => {
    const one = trade('again', 'r1', { quantity: '0.1', price: '0.123456789012' });
    await data.insert('trade_records', [one]);
    const before = await data.ask(`SELECT * EXCEPT (seen_at, trade_order) FROM trades WHERE account = 'again'`);
    await data.insert('trade_records', [{ ...one, received_at: '2026-01-07 00:00:00', poll_id: 'second' }]);
    const after = await data.ask(`SELECT * EXCEPT (seen_at, trade_order) FROM trades WHERE account = 'again'`);
    expect(after).toEqual(before);
    expect(after).toMatchObject([{ quantity: 0.1, price: 0.123456789012 }]);
  });

  it('are stored per account: both sides of a fill between two of ours', async () => {
    await data.insert('trade_records', [trade('left', 'r', {}), trade('right', 'r', { side: 'SELL' })]);
    const rows = await data.ask(`SELECT account, side FROM trades WHERE trade_record_id = 'r' ORDER BY account`);
    expect(rows).toEqual([
      { account: 'left', side: 'BUY' },
      { account: 'right', side: 'SELL' },
    ]);
  });

  it('show the latest state of an order, and every observed state', async () => {
    const order = (at: number, status: string, filled: string) => ({
      ...seen('orders', time(at), `p${at}`),
      order_id: 'o1',
      status,
      filled_quantity: filled,
    });
    await data.insert('order_records', [order(20, 'FILLED', '5'), order(0, 'ACTIVE', '0')]);
    await data.insert('order_records', [order(10, 'ACTIVE', '2'), order(5, 'ACTIVE', '0'), order(30, 'FILLED', '5')]);
    const update = { account: 'orders', connection_id: 'c', type: 'order', order_id: 'o1', status: 'SUCCESS' };
    await data.insert('order_updates', [{ ...update, received_at: time(-1) }]);
    expect(await data.ask(`SELECT status, filled_quantity FROM orders WHERE account = 'orders'`)).toEqual([
      { status: 'FILLED', filled_quantity: 5 },
    ]);
    const changes = await data.ask(
      `SELECT source, status, filled_quantity, seen_at, last_seen_at FROM order_changes WHERE account = 'orders' ORDER BY seen_at`,
    );
    expect(changes).toEqual([
      { source: 'order', status: 'SUCCESS', filled_quantity: null, seen_at: clock(-1), last_seen_at: clock(-1) },
      { source: 'poll', status: 'ACTIVE', filled_quantity: 0, seen_at: clock(0), last_seen_at: clock(5) },
      { source: 'poll', status: 'ACTIVE', filled_quantity: 2, seen_at: clock(10), last_seen_at: clock(10) },
      { source: 'poll', status: 'FILLED', filled_quantity: 5, seen_at: clock(20), last_seen_at: clock(30) },
    ]);
  });
});

describe('the current holdings of an account', () => {
  const holding = (account: string, poll: string, at: number, asset: string, shares: string) => ({
    ...seen(account, time(at), poll),
    asset,
    shares,
    cost: '1.5',
  });

  it('is the latest complete poll of which all rows are stored', async () => {
    const whole = polled('open-positions', 'now', time(0), { pages: 2 });
    const failed = polled('open-positions', 'now', time(10), { outcome: 'incomplete' });
    const coming = polled('open-positions', 'now', time(20), { pages: 2 });
    await data.insert('polls', [whole.receipt, failed.receipt, coming.receipt]);
    await data.insert('account_pages', [whole.page, { ...whole.page, page: 1 }, failed.page, coming.page]);
    await data.insert('position_observations', [
      holding('now', whole.poll, 0, 'a', '1'),
      holding('now', whole.poll, 0, 'b', '2'),
      holding('now', failed.poll, 10, 'a', '3'),
      holding('now', coming.poll, 20, 'a', '4'),
    ]);
    const now = `SELECT asset, shares, polled_at FROM positions WHERE account = 'now' ORDER BY asset`;
    expect(await data.ask(now)).toEqual([
      { asset: 'a', shares: 1, polled_at: clock(0) },
      { asset: 'b', shares: 2, polled_at: clock(0) },
    ]);
    await data.insert('account_pages', [{ ...coming.page, page: 1 }]);
    expect(await data.ask(now)).toMatchObject([{ shares: 1 }, { shares: 2 }]);
    await data.insert('position_observations', [holding('now', coming.poll, 20, 'c', '5')]);
    expect(await data.ask(now)).toEqual([
      { asset: 'a', shares: 4, polled_at: clock(20) },
      { asset: 'c', shares: 5, polled_at: clock(20) },
    ]);
  });

  it('is complete in every query, also while the tables of a poll are filled one after the other', async () => {
    const fill = async (n: number) => {
      const { poll, receipt, page } = polled('full-balances', 'race', time(n));
      const balance = (asset: string) => ({ ...seen('race', time(n), poll), asset, balance: String(n), free: '0' });
      await data.insert('polls', [receipt]);
      await data.insert('account_pages', [{ ...page, items: 2 }]);
      await data.insert('balance_observations', [balance('a'), balance('b')]);
    };
    await fill(0);
    let filling = true;
    const seenPolls = new Set<unknown>();
    const filled = (async () => {
      // Until the reader has seen several polls.
      for (let n = 1; n <= 20 || (seenPolls.size < 2 && n <= 500); n++) await fill(n);
      filling = false;
    })();
    while (filling) {
      const now = await data.ask(`SELECT asset, balance FROM balances WHERE account = 'race' ORDER BY asset`);
      expect(now.map(({ asset }) => asset)).toEqual(['a', 'b']);
      expect(now[0]?.['balance']).toBe(now[1]?.['balance']);
      seenPolls.add(now[0]?.['balance']);
    }
    await filled;
    expect(seenPolls.size).toBeGreaterThan(1);
  });

  it('is empty after a complete poll of an empty list', async () => {
    const some = polled('active-orders', 'empty', time(0));
    const none = polled('active-orders', 'empty', time(10), { received_items: 0, distinct_items: 0 });
    await data.insert('active_order_observations', [
      {
        ...seen('empty', time(0), some.poll),
        order_id: 'o',
        status: 'ACTIVE',
        side: 'BUY',
        price: '0.5',
        quantity: '3',
      },
    ]);
    await data.insert('polls', [some.receipt]);
    await data.insert('account_pages', [some.page]);
    const open = `SELECT order_id, quantity FROM active_orders WHERE account = 'empty'`;
    expect(await data.ask(open)).toEqual([{ order_id: 'o', quantity: 3 }]);
    await data.insert('polls', [none.receipt]);
    await data.insert('account_pages', [{ ...none.page, items: 0 }]);
    expect(await data.ask(open)).toEqual([]);
  });

  it('counts a page that was read twice in one poll once', async () => {
    const { poll, receipt, page } = polled('open-positions', 'twice', time(0));
    await data.insert('polls', [receipt]);
    await data.insert('account_pages', [page, page]);
    await data.insert('position_observations', [
      holding('twice', poll, 0, 'a', '1'),
      { ...holding('twice', poll, 1, 'a', '1'), current_price: 0.7 },
    ]);
    expect(await data.ask(`SELECT asset, current_price FROM positions WHERE account = 'twice'`)).toEqual([
      { asset: 'a', current_price: 0.7 },
    ]);
  });

  it('has a change when a complete poll differs, and a removal when one does not list it', async () => {
    const at = [0, 10, 20, 30, 40];
    const made = at.map((seconds) => polled('full-balances', 'log', time(seconds)));
    await data.insert(
      'polls',
      made.map(({ receipt }) => receipt),
    );
    await data.insert(
      'account_pages',
      made.map(({ page }) => page),
    );
    const balance = (n: number, asset: string, amount: string) => ({
      ...seen('log', time(at[n] ?? 0), made[n]?.poll ?? ''),
      asset,
      balance: amount,
      free: amount,
    });
    await data.insert('balance_observations', [
      ...[0, 1, 2, 3, 4].map((n) => balance(n, 'usdc', n < 2 ? '100' : '99.5')),
      balance(1, 'y', '3'),
      balance(2, 'y', '3'),
      balance(4, 'y', '3'),
    ]);
    const update = { account: 'log', connection_id: 'c', source: 'update', asset: 'usdc' };
    await data.insert('balance_updates', [
      { ...update, received_at: time(1), balance: '100', free: '100' },
      { ...update, received_at: time(2), balance: '100', free: '100' },
      { ...update, received_at: time(3), balance: '99.5', free: '99.5' },
    ]);
    const changes = await data.ask(
      `SELECT source, asset, balance, seen_at FROM balance_changes WHERE account = 'log' ORDER BY source, asset, seen_at`,
    );
    expect(changes).toEqual([
      { source: 'poll', asset: 'usdc', balance: 100, seen_at: clock(0) },
      { source: 'poll', asset: 'usdc', balance: 99.5, seen_at: clock(20) },
      { source: 'poll', asset: 'y', balance: 3, seen_at: clock(10) },
      { source: 'poll', asset: 'y', balance: 0, seen_at: clock(30) },
      { source: 'poll', asset: 'y', balance: 3, seen_at: clock(40) },
      { source: 'stream', asset: 'usdc', balance: 100, seen_at: clock(1) },
      { source: 'stream', asset: 'usdc', balance: 99.5, seen_at: clock(3) },
    ]);
    expect(await data.ask(`SELECT asset, balance FROM balances WHERE account = 'log' ORDER BY asset`)).toEqual([
      { asset: 'usdc', balance: 99.5 },
      { asset: 'y', balance: 3 },
    ]);
  });

  it('has changes of positions in the same way', async () => {
    const made = [0, 10, 20].map((seconds) => polled('open-positions', 'moves', time(seconds)));
    await data.insert(
      'polls',
      made.map(({ receipt }) => receipt),
    );
    await data.insert(
      'account_pages',
      made.map(({ page }) => page),
    );
    await data.insert('position_observations', [
      holding('moves', made[0]?.poll ?? '', 0, 'a', '1'),
      { ...holding('moves', made[1]?.poll ?? '', 10, 'a', '1'), current_price: 0.9 },
      holding('moves', made[1]?.poll ?? '', 10, 'b', '7'),
      holding('moves', made[2]?.poll ?? '', 20, 'b', '8'),
    ]);
    const changes = await data.ask(
      `SELECT asset, shares, seen_at FROM position_changes WHERE account = 'moves' ORDER BY asset, seen_at`,
    );
    expect(changes).toEqual([
      { asset: 'a', shares: 1, seen_at: clock(0) },
      { asset: 'a', shares: 0, seen_at: clock(20) },
      { asset: 'b', shares: 7, seen_at: clock(10) },
      { asset: 'b', shares: 8, seen_at: clock(20) },
    ]);
  });

  it('has the TP/SL orders of a poll of every asset', async () => {
    const { poll, receipt, page } = polled('tpsl-orders', 'tpsl', time(0), { pages: 2 });
    await data.insert('polls', [receipt]);
    await data.insert('account_pages', [{ ...page, asset: 'a' }]);
    const order = { ...seen('tpsl', time(0), poll), tpsl_order_id: 't', asset: 'a', source: 'list', quantity: '2' };
    await data.insert('tpsl_order_observations', [order]);
    const waiting = `SELECT tpsl_order_id, asset FROM tpsl_orders WHERE account = 'tpsl'`;
    expect(await data.ask(waiting)).toEqual([]);
    await data.insert('account_pages', [{ ...page, asset: 'b', items: 0 }]);
    expect(await data.ask(waiting)).toEqual([{ tpsl_order_id: 't', asset: 'a' }]);
  });
});

describe('the histories of an account', () => {
  /** A page whose records are at an offset of their own. */
  const paged = (walk: ReturnType<typeof polled>, page: number, offset: number, items: number) => ({
    ...walk.page,
    page,
    items,
    _offset: offset,
  });
  const known = (account: string) =>
    data.ask(`SELECT operation, complete_to FROM history_completeness WHERE account = '${account}' ORDER BY operation`);

  it('are complete to the start of the latest complete walk of which all pages and rows are stored', async () => {
    const walk = polled('trades', 'walked', time(0), { pages: 2, finished_at: time(5) });
    await data.insert('polls', [walk.receipt]);
    expect(await known('walked')).toEqual([]);
    await data.insert('account_pages', [paged(walk, 0, 1000, 1)]);
    await data.insert('trade_records', [{ ...trade('walked', 'w1', {}), _offset: 1000 }]);
    expect(await known('walked')).toEqual([]);
    await data.insert('account_pages', [paged(walk, 1, 1001, 1)]);
    expect(await known('walked')).toEqual([]);
    await data.insert('trade_records', [{ ...trade('walked', 'w0', {}), _offset: 1001 }]);
    const first = [{ operation: 'trades', complete_to: clock(0) }];
    expect(await known('walked')).toEqual(first);

    const failed = polled('trades', 'walked', time(10), { outcome: 'failed' });
    const rejected = polled('trades', 'walked', time(20));
    const probed = polled('trades', 'walked', time(30), { pages: 2 });
    await data.insert('polls', [failed.receipt, rejected.receipt, probed.receipt]);
    await data.insert('account_pages', [
      paged(failed, 0, 1002, 0),
      { ...paged(rejected, 0, 1003, 0), rejected_items: 1 },
      paged(probed, 0, 1004, 0),
      paged(probed, 1_000_000, 1005, 0),
    ]);
    expect(await known('walked')).toEqual(first);
    await data.insert('account_pages', [paged(probed, 1, 1006, 0)]);
    expect(await known('walked')).toEqual([{ operation: 'trades', complete_to: clock(30) }]);
  });

  it('are complete for profit and loss when trades and, where they can be read, transactions are', async () => {
    const complete = () =>
      data.ask(`SELECT trades_complete_to, complete_to FROM account_completeness WHERE account = 'money'`);
    const walk = polled('trades', 'money', time(10));
    const money = polled('transactions', 'money', time(5));
    await data.insert('account_pages', [paged(walk, 0, 2000, 0)]);
    expect(await complete()).toEqual([{ trades_complete_to: null, complete_to: null }]);
    await data.insert('polls', [walk.receipt]);
    expect(await complete()).toEqual([{ trades_complete_to: clock(10), complete_to: clock(10) }]);
    await data.insert('account_pages', [paged(money, 0, 2001, 0)]);
    expect(await complete()).toEqual([{ trades_complete_to: clock(10), complete_to: null }]);
    await data.insert('polls', [money.receipt]);
    expect(await complete()).toEqual([{ trades_complete_to: clock(10), complete_to: clock(5) }]);
  });
});

describe('volume', () => {
  it('counts a fill between two of our accounts once, at the price of the taker, and all users by the activity feed', async () => {
    const market = { event: 've', market: 'vm', received_at: time(0), poll_id: 'p', yes_asset: 'vy', no_asset: 'vn' };
    await data.insert('market_observations', [market]);
    const on = { event: 've', market: 'vm', quantity: '10' };
    await data.insert('trade_records', [
      // A pair minted between two of ours: the taker bought NO at 0.4, the maker YES at 0.6.
      trade('v1', 'va', { ...on, trade_id: 'v', asset: 'vn', price: '0.4' }),
      trade('v2', 'vb', { ...on, trade_id: 'v', asset: 'vy', price: '0.6' }),
      // A fill with one own side, on another day.
      trade('v1', 'vc', { ...on, trade_id: 'w', asset: 'vy', price: '0.7', executed_at: '2026-01-06 00:00:00' }),
    ]);
    const item = { ...seen('', time(0), 'p'), market: 'vm', side: 'BUY', executed_at: '2026-01-05 12:00:00' };
    await data.insert('activity_records', [
      { ...item, trade_record_id: 'va', quantity: '10', price: '0.4', position: 'NO', is_primary: false },
      { ...item, trade_record_id: 'vz', quantity: '30', price: '0.5', position: 'YES', is_primary: null },
    ]);
    const daily = await data.ask(
      `SELECT scope, toString(day) AS day, event, trades, shares, volume, yes_value FROM volume_by_market_and_day WHERE market = 'vm' ORDER BY scope, day`,
    );
    expect(daily).toEqual([
      { scope: 'all', day: '2026-01-05', event: 've', trades: 2, shares: 40, volume: 19, yes_value: 21 },
      { scope: 'own', day: '2026-01-05', event: 've', trades: 1, shares: 10, volume: 4, yes_value: 6 },
      { scope: 'own', day: '2026-01-06', event: 've', trades: 1, shares: 10, volume: 7, yes_value: 7 },
    ]);
    expect(
      await data.ask(`SELECT scope, trades, volume, vwap FROM volume_by_market WHERE market = 'vm' ORDER BY scope`),
    ).toEqual([
      { scope: 'all', trades: 2, volume: 19, vwap: 21 / 40 },
      { scope: 'own', trades: 2, volume: 11, vwap: 13 / 20 },
    ]);
    expect(await data.ask(`SELECT scope, trades FROM volume_by_event WHERE event = 've' ORDER BY scope`)).toEqual([
      { scope: 'all', trades: 2 },
      { scope: 'own', trades: 2 },
    ]);
    expect(await data.ask(`SELECT trades FROM volume_by_day WHERE scope = 'all' AND day = '2026-01-05'`)).toEqual([
      { trades: 2 },
    ]);
  });
});

describe('statistics of a user', () => {
  it('are those of the latest poll', async () => {
    const profile = (at: number, value: string) => ({
      ...seen('me', time(at), `p${at}`),
      user_id: 'u',
      position_value: value,
    });
    await data.insert('profile_observations', [profile(0, '1'), profile(9, '2'), profile(5, '3')]);
    expect(await data.ask(`SELECT user_id, position_value FROM profile_stats WHERE account = 'me'`)).toEqual([
      { user_id: 'u', position_value: 2 },
    ]);
    const stats = { ...seen('me', time(0), 'p'), user_id: 'u', tab: 'active', total_items: 4 };
    await data.insert('position_stats_observations', [stats]);
    expect(await data.ask(`SELECT user_id, tab, total_items FROM position_stats WHERE account = 'me'`)).toEqual([
      { user_id: 'u', tab: 'active', total_items: 4 },
    ]);
  });
});
