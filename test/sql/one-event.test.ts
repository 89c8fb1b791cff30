import { expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { polled, seen } from './account-data.js';
import { declaredViews, ofEach } from './declared-views.js';
import { ago, collectorEvent, eventSeen, searchPoll, tick, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });

/** Views without rows, and why; every other view has at least one. */
const EMPTY: Readonly<Record<string, string>> = {
  arbitrage_windows: 'no quotes allow arbitrage',
  lost_periods: 'no record was lost',
  undelivered: 'no record waits for delivery',
};

const NOT_FINITE = /(?<![\w'])[+-]?(nan|inf)(?![\w'])/;

it('every view answers with rows of finite numbers about one event of two markets, of which one was paid out', async () => {
  const data = new WarehouseData(host.database);
  const markets = ['m', 'n'];
  const on = { event: 'e', connection_id: 'c', markets };
  const range = { stream: 'chance', event: 'e', market: 'm', range_from: ago(7250), range_to: ago(7200) };
  await data.insert('collector_events', [
    collectorEvent('s', 1, ago(7300), 'session-started', { collector: 'c' }),
    collectorEvent('s', 2, ago(7200), 'subscribed', { ...on, stream: 'order-book' }),
    collectorEvent('s', 3, ago(7200), 'subscribed', { ...on, stream: 'chance' }),
    collectorEvent('s', 4, ago(7190), 'backfilled', range),
    collectorEvent('s', 5, ago(0), 'heartbeat', { acknowledged: { 'chancery.order-book': 1 } }),
  ]);
  await data.insert('event_observations', [eventSeen('e', ago(7250), { markets })]);
  await data.insert(
    'market_observations',
    markets.map((market) => ({
      ...{ received_at: ago(7250), poll_id: 'p', event: 'e', market, name: market },
      ...{ yes_asset: `${market} yes`, no_asset: `${market} no` },
    })),
  );
  const listed = { received_at: ago(7250), poll_id: 'p' };
  await data.insert('category_observations', [{ ...listed, category: 'c', name: 'c', depth: 0 }]);
  await data.insert('tag_observations', [{ ...listed, tag: 't', popularity_rank: 1 }]);
  await data.insert('coin_observations', [{ ...listed, coin: 'usdc', ticker: 'USDC', usd_rate: 1, collateral: true }]);
  const book = (market: string) => tick(market, ago(7100), 0.5, { event: 'e' });
  await data.insert('price_ticks', markets.map(book));
  const chance = { event: 'e', market: 'm', chance: 0.5 };
  await data.insert('chance_points', [{ ...chance, received_at: ago(7100), occurred_at: ago(7100), source: 'change' }]);
  const history = (period: string, at: number) => ({ ...chance, period, received_at: ago(7000), occurred_at: ago(at) });
  await data.insert(
    'chance_history_points',
    [history('1s', 7150), history('5M', 7220)].map((point) => ({ ...point, source: 'rest' })),
  );

  const trade = (market: string): Values => ({
    ...{ market, side: 'BUY', quantity: '1', price: '0.5', executed_at: ago(7000), received_at: ago(6990) },
    ...{ trade_record_id: `record of ${market}` },
  });
  await data.insert(
    'activity_records',
    markets.map((market) => ({ ...trade(market), position: 'YES' })),
  );
  // ann bought YES of both markets; of m her fill was with bob, who bought NO.
  const own = (account: string, market: string, outcome: string): Values => ({
    ...{ ...trade(market), event: 'e', asset: `${market} ${outcome}`, fee: '0', account, page: 0 },
    ...{ trade_id: `trade of ${market}`, trade_record_id: `${outcome} of ${market}`, pass_began_at: ago(6990) },
  });
  await data.insert('trade_records', [own('ann', 'm', 'yes'), own('bob', 'm', 'no'), own('ann', 'n', 'yes')]);
  const paid = { type: 'PAYOUT', status: 'COMPLETED', asset: 'm yes', amount: '1', created_at: ago(120) };
  await data.insert('transaction_records', [{ ...seen('ann', ago(60), 'p'), transaction_id: 'payout', ...paid }]);
  const order = { order_id: 'o', side: 'SELL', status: 'ACTIVE', price: '0.9' };
  const placed = {
    event: 'e',
    market: 'n',
    asset: 'n yes',
    type: 'LIMIT',
    original_quantity: '1',
    filled_quantity: '0',
    placed_at: ago(100),
  };
  await data.insert('order_records', [{ ...seen('ann', ago(60), 'p'), ...order, ...placed }]);

  const receipts = [searchPoll(ago(7250))];
  const pages: Values[] = [];
  const poll = async (operation: string, account: string, table = '', row: Values = {}): Promise<void> => {
    const { poll: id, receipt, page } = polled(operation, account, ago(50));
    receipts.push(receipt);
    pages.push({ ...page, items: table === '' ? 0 : 1 });
    if (table !== '') await data.insert(table, [{ ...seen(account, ago(50), id), ...row }]);
  };
  for (const account of ['ann', 'bob']) {
    await poll('trades', account);
    await poll('transactions', account);
  }
  await poll('activity', '');
  await poll('active-orders', 'ann', 'active_order_observations', { ...order, quantity: '1' });
  await poll('full-balances', 'ann', 'balance_observations', { asset: 'n yes', balance: '1', free: '0' });
  const held = { event: 'e', market: 'n', asset: 'n yes', shares: '1', available_shares: '0', cost: '0.5' };
  await poll('open-positions', 'ann', 'position_observations', {
    ...held,
    entry_price: 0.5,
    current_price: 0.5,
    value: '0.5',
  });
  await poll('tpsl-orders', 'ann', 'tpsl_order_observations', {
    ...{ tpsl_order_id: 'x', asset: 'n yes', source: 'list', quantity: '1', take_profit_price: '0.9' },
  });
  await poll('profile', 'ann', 'profile_observations', { user_id: 'ann', volume_traded: '1', markets_traded: 2 });
  await poll('position-stats', 'ann', 'position_stats_observations', { user_id: 'ann', tab: 'active', total_items: 1 });
  const failed = { poll_id: 'failed', operation: 'coins', outcome: 'failed', cause: 'status 500' };
  await data.insert('polls', [...receipts, { ...searchPoll(ago(40)), ...failed }]);
  await data.insert('account_pages', pages);

  const frame = { kind: 'order-book.frame', session_id: 's', sequence: 1 };
  const record = { ...frame, _topic: 'chancery.order-book', received_at: ago(100), written_at: ago(99) };
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const kept = {
    encoding: 'json',
    piece: 0,
    pieces: 1,
    body_bytes: 2,
    body_expires_at: expires,
    request: '',
    body: '{}',
  };
  await data.insert('raw_records', [{ ...record, ...kept }]);
  await data.insert('dead_letters', [
    { ...record, written_at: ago(3000), json_path: 'd', reason: 'no number', payload: '{}', payload_length: 2 },
  ]);
  const audit = { audited_at: ago(90), last_equal_at: ago(120), session_id: 's', stream: 'order-book', event: 'e' };
  await data.insert('audits', [{ ...audit, reason: 'interval', changes: 1, compared: 2, changed: 1 }]);
  await data.insert('balance_updates', [
    { account: 'ann', received_at: ago(80), source: 'list', asset: 'usdc', balance: '5', free: '4' },
  ]);
  // The prices are two hours old: at any time of day there are several whole half hours since, but not always two whole hours.
  const views = await declaredViews(host.database, { period_seconds: '1800' });
  const answers = await ofEach(views, async ({ name, source }) => {
    return [name, await host.database.run(`SELECT * FROM ${source} FORMAT TSV`, 'reader')] as const;
  });
  expect(answers.filter(([, rows]) => NOT_FINITE.test(rows)).map(([name]) => name)).toEqual([]);
  expect(answers.filter(([, rows]) => rows === '').map(([name]) => name)).toEqual(Object.keys(EMPTY));
});

/**
 * Arguments at the limits of what the parameters mean. The views with one of the named parameters are asked with them; with
 * `column`, those of them that have this column, for the rows of an unknown value.
 */
const ODD: readonly {
  readonly what: string;
  readonly given: Readonly<Record<string, string>>;
  readonly column?: string;
}[] = [
  { what: 'a range without length', given: { from_at: `'${ago(3600)}'`, to_at: `'${ago(3600)}'` } },
  { what: 'a range that ends before it begins', given: { from_at: `'${ago(0)}'`, to_at: `'${ago(7200)}'` } },
  {
    what: 'calendar months, longer than the range; no margin, no window',
    given: {
      ...{ period_seconds: '2592000', margin_ms: '0', window_seconds: '0', price: "'mid'", level: "'event'" },
      ...{ from_at: `'${ago(3600)}'`, to_at: `'${ago(0)}'` },
    },
  },
  { what: 'an unknown market', given: { period_seconds: '7', price: "'bid'", level: "'market'" }, column: 'market' },
];

it.each(ODD)('every view with parameters answers with finite numbers for $what', async ({ given, column }) => {
  const views = (await declaredViews(host.database, given)).filter(
    ({ definition, declared }) =>
      Object.keys(given).some((name) => definition.includes(`{${name}:`)) &&
      (column === undefined || declared.some(({ name }) => name === column)),
  );
  expect(views.length).toBeGreaterThan(10);
  await ofEach(views, async ({ name, source }) => {
    const where = column === undefined ? '' : `WHERE ${column} = 'none'`;
    const rows = await host.database.run(`SELECT * FROM ${source} ${where} FORMAT TSV`, 'reader');
    expect([name, NOT_FINITE.exec(rows)?.[0]]).toEqual([name, undefined]);
    if (column !== undefined) expect([name, rows]).toEqual([name, '']);
  });
});
