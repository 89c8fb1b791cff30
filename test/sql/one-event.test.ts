import { expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { declaredViews } from './declared-views.js';
import { ago, collectorEvent, eventSeen, searchPoll, tick, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });

it('every view answers with finite numbers about one event with one tick, one chance and one trade', async () => {
  const data = new WarehouseData(host.database);
  const on = { event: 'event of m', connection_id: 'c', markets: ['m'] };
  await data.insert('collector_events', [
    collectorEvent('s', 1, ago(7300), 'session-started', { collector: 'c' }),
    collectorEvent('s', 2, ago(7200), 'subscribed', { ...on, stream: 'order-book' }),
    collectorEvent('s', 3, ago(7200), 'subscribed', { ...on, stream: 'chance' }),
    collectorEvent('s', 4, ago(0), 'heartbeat'),
  ]);
  await data.insert('polls', [searchPoll(ago(7250))]);
  await data.insert('event_observations', [eventSeen('event of m', ago(7250), { markets: ['m'] })]);
  await data.insert('market_observations', [
    { received_at: ago(7250), event: 'event of m', market: 'm', name: 'm', yes_asset: 'yes', no_asset: 'no' },
  ]);
  await data.insert('price_ticks', [tick('m', ago(7100), 0.5)]);
  const occurred_at = ago(7100);
  await data.insert('chance_points', [
    { received_at: occurred_at, occurred_at, event: 'event of m', market: 'm', chance: 0.5, source: 'change' },
  ]);
  const trade = {
    market: 'm',
    side: 'BUY',
    quantity: '1',
    price: '0.5',
    executed_at: ago(7000),
    received_at: ago(6990),
  };
  const record = { ...trade, trade_record_id: 'r', trade_id: 't', event: 'event of m', asset: 'yes', fee: '0' };
  await data.insert('trade_records', [{ ...record, account: 'ann', pass_began_at: ago(6990), page: 0 }]);
  await data.insert('activity_records', [{ ...trade, trade_record_id: 'r', position: 'YES' }]);
  const answers: [string, string][] = [];
  for (const { name, source } of await declaredViews(host.database)) {
    answers.push([name, await host.database.run(`SELECT * FROM ${source} FORMAT TSV`, 'reader')]);
  }
  expect(answers.filter(([, rows]) => /(?<![\w'])[+-]?(nan|inf)(?![\w'])/.test(rows)).map(([name]) => name)).toEqual(
    [],
  );
  const answered = answers.filter(([, rows]) => rows !== '').map(([name]) => name);
  expect(answered).toEqual(
    expect.arrayContaining(['candles', 'chance_candles', 'coverage_by_event', 'pnl_by_account']),
  );
});
