import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../core/index.js';
import { useDatabase } from '../support/database.js';
import { runAs } from '../support/run-as.js';
import { polled, seen, trade } from './account-data.js';
import { ago, collectorEvent, eventSeen, searchPoll, tick, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

const page = readFileSync(join(packageRoot(), 'docs/sql.md'), 'utf8');
const queries = [...page.matchAll(/```sql\n(.*?)```/gs)].map((match) => match[1] ?? '');
/** Queries whose result the page shows. */
const answered = [...page.matchAll(/```sql\n([^`]*)```\n\n```text\n([^`]*)```/g)].map(
  (match) => [match[1] ?? '', match[2] ?? ''] as const,
);

/** A market that was observed for two hours, with all data that the page queries. */
async function record(): Promise<void> {
  // One present for all rows: the event was observed from the moment at which it was first listed, in whichever hour that was.
  const now = Date.now();
  const before = (seconds: number) => ago(seconds, now);
  const position = { _log: 'log', _partition: 0, _offset: 1, _index: 0 };
  await data.insert('price_ticks', [
    tick('m1', before(7200), 0.3, { event: 'e1' }),
    tick('m1', before(5000), 0.35, { event: 'e1' }),
    tick('m1', before(60), 0.45, { event: 'e1', bid: 0.42, ask: 0.44, ...position }),
    tick('m2', before(50), 0.5, { event: 'e1', bid: 0.48, ask: 0.52 }),
  ]);
  const raw = {
    session_id: 's',
    sequence: 1,
    kind: 'order-book.frame',
    encoding: 'json',
    piece: 0,
    pieces: 1,
    body_bytes: 4,
  };
  await data.insert('raw_records', [
    {
      ...position,
      ...raw,
      _topic: 'chancery.order-book',
      received_at: before(60),
      written_at: before(59),
      body_expires_at: '2099-01-01 00:00:00',
      request: '{}',
      body: '{"t":"PRICES_DATA_DELTA"}',
    },
  ]);
  const point = { event: 'e1', market: 'm1', chance: 0.4, source: 'change' };
  await data.insert('chance_points', [
    { ...point, occurred_at: before(90), received_at: before(89) },
    { ...point, occurred_at: before(80), received_at: before(80), chance: 0.42, source: 'aggregate' },
  ]);
  const seen = (at: string, title: string) =>
    eventSeen('e1', at, { title, markets: ['m1', 'm2'], volume_24h: 5, total_volume: 9 });
  await data.insert('event_observations', [seen(before(7300), 'Rain?'), seen(before(2), 'Rain tomorrow?')]);
  const market = { event: 'e1', received_at: before(2), poll_id: 'p', yes_asset: 'y', no_asset: 'n' };
  await data.insert('market_observations', [
    { ...market, market: 'm1', name: 'Yes' },
    { ...market, market: 'm2', name: 'No' },
  ]);
  await data.insert('polls', [searchPoll(before(60))]);
  const on = { stream: 'order-book', connection_id: 'c', event: 'e1' };
  await data.insert('collector_events', [
    collectorEvent('s', 1, before(7300), 'session-started', { collector: 'a' }),
    collectorEvent('s', 2, before(7300), 'subscribed', { ...on, markets: ['m1', 'm2'] }),
    // A minute later: a gap of the chance stream.
    collectorEvent('s', 3, before(7240), 'subscribed', { ...on, stream: 'chance', markets: ['m1', 'm2'] }),
    collectorEvent('s', 4, before(0.5), 'heartbeat', { acknowledged: { 'chancery.order-book': 0 } }),
  ]);
  const audit = {
    audited_at: before(40),
    last_equal_at: before(70),
    session_id: 's',
    stream: 'order-book',
    event: 'e1',
  };
  await data.insert('audits', [
    { ...audit, connection_id: 'c', reason: 'interval', changes: 9, compared: 2, changed: 2, missed: 1, mismatches: 1 },
  ]);
  await data.insert('audit_mismatches', [
    {
      ...audit,
      market: 'm1',
      our_last: 0.44,
      our_bid: 0.42,
      our_ask: 0.45,
      their_last: 0.45,
      their_bid: 0.42,
      their_ask: null,
    },
  ]);
  await data.insert('dead_letters', [
    {
      _topic: 'chancery.order-book',
      kind: 'order-book.frame',
      session_id: 's',
      sequence: 1,
      json_path: 'd',
      reason: 'r',
      payload: 'x',
      payload_length: 1,
    },
  ]);
}

/** Two accounts that trade with each other and with others. */
async function recordAccounts(): Promise<void> {
  const own = (account: string, n: number, fields: Values) =>
    trade(account, `${account} ${n}`, { event: 'e1', market: 'm1', executed_at: ago(3600 - n), ...fields });
  const both = { trade_id: 't1', quantity: '20', price: '0.4' };
  await data.insert('trade_records', [
    own('ann', 1, { ...both, asset: 'm1 yes', fee: '0.016' }),
    own('bob', 1, { ...both, asset: 'm1 yes', side: 'SELL', fee: '0' }),
    own('bob', 0, { asset: 'm1 yes', quantity: '30', price: '0.3', fee: '0.018' }),
    own('ann', 2, { asset: 'm1 yes', quantity: '7', price: '0.5', side: 'SELL', fee: '0.007' }),
    own('ann', 3, { event: 'e2', market: 'm3', asset: 'm3 no', quantity: '12', price: '0.25', fee: '0' }),
  ]);
  const seenMarket = { event: 'e1', received_at: ago(2), poll_id: 'p' };
  await data.insert('market_observations', [
    { ...seenMarket, market: 'm1', name: 'Yes', yes_asset: 'm1 yes', no_asset: 'm1 no' },
    { ...seenMarket, event: 'e2', market: 'm3', name: 'Late', yes_asset: 'm3 yes', no_asset: 'm3 no' },
  ]);
  await data.insert('price_ticks', [tick('m3', ago(30), 0, { event: 'e2', bid: null, ask: null })]);
  const item = { ...seen('', ago(5), 'p'), market: 'm1', position: 'YES', is_primary: true, side: 'BUY' };
  await data.insert('activity_records', [
    { ...item, trade_record_id: 'ann 1', username: 'ann', quantity: '20', price: '0.4', executed_at: ago(3599) },
    { ...item, trade_record_id: 'bob 0', username: 'bob', quantity: '30', price: '0.3', executed_at: ago(3600) },
    { ...item, trade_record_id: 'x', username: 'zoe', quantity: '10', price: '0.44', executed_at: ago(60) },
  ]);
  const positions = polled('open-positions', 'ann', ago(10));
  const balances = [polled('full-balances', 'ann', ago(4000)), polled('full-balances', 'ann', ago(10))];
  const missed = polled('trades', 'ann', ago(9), { outcome: 'failed', cause: 'the exchange answered HTTP 500' });
  const walk = polled('trades', 'ann', ago(12));
  await data.insert(
    'polls',
    [positions, ...balances, missed, walk].map(({ receipt }) => receipt),
  );
  await data.insert('account_pages', [
    ...[positions, ...balances].map(({ page }) => page),
    // It found nothing new.
    { ...walk.page, items: 0 },
  ]);
  await data.insert('position_observations', [
    { ...seen('ann', ago(10), positions.poll), asset: 'm1 yes', shares: '13', cost: '5.2' },
  ]);
  const balance = (n: number, asset: string, amount: string, free = amount) => ({
    ...seen('ann', ago(10), balances[n]?.poll ?? ''),
    asset,
    balance: amount,
    free,
  });
  await data.insert('balance_observations', [
    balance(0, 'usdc', '1000'),
    balance(1, 'usdc', '992.477', '990.477'),
    balance(1, 'm1 yes', '13'),
  ]);
  const order = (at: number, status: string, filled: string) => ({
    ...seen('ann', ago(at), `p${at}`),
    order_id: 'o1',
    status,
    filled_quantity: filled,
  });
  await data.insert('order_records', [order(3605, 'ACTIVE', '0'), order(3590, 'FILLED', '20')]);
  const update = { account: 'ann', connection_id: 'c', type: 'order', order_id: 'o1', status: 'SUCCESS' };
  await data.insert('order_updates', [{ ...update, received_at: ago(3606) }]);
}

/** A market that was traded at 5 cents, and that was resolved a while ago: not on the clock of the other records. */
async function recordResolved(): Promise<void> {
  const market = { event: 'e4', market: 'm4' };
  const times = { created_at: '2026-01-05 00:00:00', closes_at: '2026-01-06 12:00:00' };
  await data.insert('event_observations', [eventSeen('e4', '2026-01-05 00:00:00', { markets: ['m4'], ...times })]);
  await data.insert('market_observations', [{ ...market, received_at: '2026-01-05 00:00:00', poll_id: 'p' }]);
  await data.insert('collector_events', [
    collectorEvent('s4', 1, '2026-01-05 00:00:00', 'session-started', { collector: 'a' }),
    collectorEvent('s4', 2, '2026-01-06 00:00:00', 'subscribed', {
      ...{ stream: 'order-book', connection_id: 'c4', event: 'e4', markets: ['m4'] },
    }),
    collectorEvent('s4', 3, '2026-01-06 13:00:00', 'session-stopped', { cause: 'done' }),
  ]);
  await data.insert('price_ticks', [
    tick('m4', '2026-01-06 00:00:00', 0.04, { event: 'e4' }),
    tick('m4', '2026-01-06 10:30:00', 0.07, { event: 'e4' }),
    tick('m4', '2026-01-06 12:10:00', 0, { event: 'e4', bid: null, ask: null }),
  ]);
  const item = { ...seen('', '2026-01-06 12:00:00', 'p'), market: 'm4', position: 'YES', is_primary: true };
  await data.insert('activity_records', [
    { ...item, side: 'BUY', trade_record_id: 'm4', quantity: '1', price: '0.07', executed_at: '2026-01-06 10:30:00' },
  ]);
}

beforeAll(async () => {
  data = new WarehouseData(host.database);
  await record();
  await recordAccounts();
  await recordResolved();
});

describe('the cookbook', () => {
  it('has queries', () => {
    expect(queries.length).toBeGreaterThan(15);
  });

  it.each(queries.map((query) => [query.split('\n')[0], query] as const))('answers: %s', async (_, query) => {
    const filled = query
      .replaceAll('<market>', 'm1')
      .replaceAll('<event>', 'e1')
      .replaceAll('<from>', ago(7250))
      .replaceAll('<to>', ago(0));
    expect(filled).not.toMatch(/<\w+>/);
    expect((await data.ask(filled)).length).toBeGreaterThan(0);
  });

  it.each(answered)('shows the actual result: %s', async (query, shown) => {
    const { reader, name: database } = host.database;
    const settings = new URLSearchParams({
      database,
      output_format_pretty_color: '0',
      output_format_pretty_row_numbers: '0',
      output_format_pretty_single_large_number_tip_threshold: '0',
    });
    const text = await runAs(
      { ...reader, url: `${reader.url}/?${settings}` },
      `${query} FORMAT PrettyCompactMonoBlock`,
    );
    expect(text).toBe(shown);
  });
});
