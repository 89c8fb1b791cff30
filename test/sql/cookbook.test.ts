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
/** Queries whose answer the page shows. */
const answered = [...page.matchAll(/```sql\n([^`]*)```\n\n```text\n([^`]*)```/g)].map(
  (match) => [match[1] ?? '', match[2] ?? ''] as const,
);

/** A market that was watched for two hours, with everything that the page asks about. */
async function record(): Promise<void> {
  const position = { _log: 'log', _partition: 0, _offset: 1, _index: 0 };
  await data.insert('price_ticks', [
    tick('m1', ago(7200), 0.3, { event: 'e1' }),
    tick('m1', ago(5000), 0.35, { event: 'e1' }),
    tick('m1', ago(60), 0.45, { event: 'e1', bid: 0.42, ask: 0.44, ...position }),
    tick('m2', ago(50), 0.5, { event: 'e1', bid: 0.48, ask: 0.52 }),
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
      received_at: ago(60),
      written_at: ago(59),
      body_expires_at: '2099-01-01 00:00:00',
      request: '{}',
      body: '{"t":"PRICES_DATA_DELTA"}',
    },
  ]);
  const point = { event: 'e1', market: 'm1', chance: 0.4, source: 'change' };
  await data.insert('chance_points', [{ ...point, occurred_at: ago(90), received_at: ago(89) }]);
  const seen = (at: string, title: string) =>
    eventSeen('e1', at, { title, markets: ['m1', 'm2'], volume_24h: 5, total_volume: 9 });
  await data.insert('event_observations', [seen(ago(7300), 'Rain?'), seen(ago(2), 'Rain tomorrow?')]);
  const market = { event: 'e1', received_at: ago(2), poll_id: 'p', yes_asset: 'y', no_asset: 'n' };
  await data.insert('market_observations', [
    { ...market, market: 'm1', name: 'Yes' },
    { ...market, market: 'm2', name: 'No' },
  ]);
  await data.insert('polls', [searchPoll(ago(60))]);
  const on = { stream: 'order-book', connection_id: 'c', event: 'e1' };
  await data.insert('collector_events', [
    collectorEvent('s', 1, ago(7250), 'session-started', { collector: 'a' }),
    collectorEvent('s', 2, ago(7250), 'subscribed', { ...on, markets: ['m1', 'm2'] }),
    collectorEvent('s', 3, ago(0.5), 'heartbeat'),
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
  await data.insert(
    'polls',
    [positions, ...balances, missed].map(({ receipt }) => receipt),
  );
  await data.insert(
    'account_pages',
    [positions, ...balances].map(({ page }) => page),
  );
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

beforeAll(async () => {
  data = new WarehouseData(host.database);
  await record();
  await recordAccounts();
});

describe('the cookbook', () => {
  it('has queries', () => {
    expect(queries.length).toBeGreaterThan(15);
  });

  it.each(queries.map((query) => [query.split('\n')[0], query] as const))('answers: %s', async (_, query) => {
    const filled = query.replaceAll('<market>', 'm1').replaceAll('<event>', 'e1');
    expect(filled).not.toMatch(/<\w+>/);
    expect((await data.ask(filled)).length).toBeGreaterThan(0);
  });

  it.each(answered)('shows what is answered: %s', async (query, shown) => {
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
