import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { rollUpNextBlocks } from '../../transforms/worker/roll-up-blocks.js';
import { Connection } from '../../warehouse/index.js';
import { useDatabase } from '../support/database.js';
import { polled, seen, trade } from './account-data.js';
import { tick, time, type Values, WarehouseData } from './warehouse-data.js';

const DAY = 86_400;

const host = useDatabase({ migrated: true });
let data: WarehouseData;

beforeAll(async () => {
  data = new WarehouseData(host.database);
  await data.insert(
    'market_observations',
    ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7'].map((market) => ({
      ...{ market, event: 'e', received_at: time(0), poll_id: 'p' },
      ...{ yes_asset: `${market} yes`, no_asset: `${market} no` },
    })),
  );
  await data.insert('price_ticks', [
    tick('m1', time(900), 0.5),
    tick('m1', time(990), 0.55),
    tick('m2', time(990), 0.6),
    tick('m2', time(1002), 0.7),
    tick('m4', time(990), 0.2),
    tick('m4', time(1006), 0.25),
    tick('m5', time(-8 * DAY), 0.3),
    tick('m6', time(-8 * DAY), 0.3),
    tick('m6', time(2000), 0.35),
    tick('m7', time(-7300), 0.1),
    tick('m7', time(-7201), 0.3),
    tick('m7', time(2000), 0.35),
  ]);
  const on = (market: string, outcome: string) => ({
    event: 'e',
    market,
    asset: `${market} ${outcome}`,
    executed_at: time(10),
  });
  await data.insert('trade_records', [
    trade('ann', '1', { ...on('m1', 'yes'), quantity: '10', price: '0.4', fee: '0.008' }),
    trade('ann', '2', { ...on('m2', 'no'), quantity: '3', price: '0.5' }),
    trade('ann', '3', { ...on('m3', 'yes'), quantity: '3', price: '0.1' }),
    trade('ann', '4', { ...on('m4', 'yes'), quantity: '6', price: '0.25' }),
    trade('ann', '5', { ...on('m5', 'yes'), quantity: '1', price: '0.2' }),
    trade('ann', '6', { ...on('m6', 'yes'), quantity: '1', price: '0.2' }),
    trade('ann', '7', { ...on('m7', 'yes'), quantity: '1', price: '0.2' }),
  ]);
  await data.insert('order_records', [
    {
      ...{ ...seen('ann', time(950), 'o'), order_id: 's1', event: 'e', market: 'm1', asset: 'm1 yes', side: 'SELL' },
      ...{ type: 'LIMIT', price: '0.9', original_quantity: '2', filled_quantity: '0', status: 'ACTIVE' },
    },
  ]);
  const poll = async (operation: string, items: number, at: string) => {
    const { poll: poll_id, receipt, page } = polled(operation, 'ann', at);
    await data.insert('polls', [receipt]);
    await data.insert('account_pages', [{ ...page, items }]);
    return { ...seen('ann', at, poll_id) };
  };
  const orders = await poll('active-orders', 1, time(1000));
  const order: Values = { order_id: 's1', status: 'ACTIVE', side: 'SELL', price: '0.9', quantity: '2' };
  await data.insert('active_order_observations', [{ ...orders, ...order }]);
  const positions = await poll('open-positions', 7, time(1000));
  const position = (asset: string, fields: Values): Values => ({
    ...positions,
    event: 'e',
    market: asset.slice(0, 2),
    asset,
    ...fields,
  });
  await data.insert('position_observations', [
    position('m1 yes', {
      ...{ shares: '10', available_shares: '8', entry_price: 0.4, cost: '4', current_price: 0.55 },
      ...{ value: '5.5', pnl: '1.5', pnl_percent: 37.5 },
    }),
    position('m2 no', {
      ...{ shares: '3', available_shares: null, entry_price: 0.5, cost: '1.5', current_price: 0.3 },
      ...{ value: '0.9', pnl: '-0.6', pnl_percent: -40 },
    }),
    position('m3 yes', {
      ...{ shares: '3', available_shares: '2', entry_price: 0.1, cost: '0.3', current_price: 0.1 },
      ...{ value: '0.3', pnl: '0', pnl_percent: 0 },
    }),
    position('m4 yes', {
      ...{ shares: '6', available_shares: '6', entry_price: 0.250002, cost: '1.5', current_price: 0.3 },
      ...{ value: '1.2', pnl: '-0.2', pnl_percent: -20 },
    }),
    ...['m5 yes', 'm6 yes', 'm7 yes'].map((asset) =>
      position(asset, { shares: '1', cost: '0.2', current_price: 0.3, value: '0.3', pnl: '0.1', pnl_percent: 50 }),
    ),
  ]);
  await poll('trades', 0, time(2000));
});

const fieldsOf = async (asset: string) => {
  const rows = await data.ask<{ code: string; state: string; ours: number | null; exchange: number | null }>(
    `SELECT code, state, round(ours, 9) AS ours, round(exchange, 9) AS exchange FROM position_field_reconciliation WHERE asset = '${asset}'`,
  );
  return Object.fromEntries(rows.map(({ code, state, ours, exchange }) => [code, [state, ours, exchange]]));
};

describe('the fields of a position of the exchange', () => {
  it('all follow from trades, active orders and the last tick', async () => {
    expect(await fieldsOf('m1 yes')).toEqual({
      ...{ tsc: ['equal', 10, 10], asc: ['equal', 8, 8], sp: ['equal', 0.4, 0.4], c: ['equal', 4, 4] },
      ...{ cp: ['equal', 0.55, 0.55], v: ['equal', 5.5, 5.5], pv: ['equal', 1.5, 1.5], pp: ['equal', 37.5, 37.5] },
    });
  });

  it('differ where the price changed while they were polled, and the reason is given', async () => {
    // NO at 1 - 0.6; 2 s later at 1 - 0.7.
    expect(await fieldsOf('m2 no')).toEqual({
      ...{ tsc: ['equal', 3, 3], asc: ['not sent', 3, null], sp: ['equal', 0.5, 0.5], c: ['equal', 1.5, 1.5] },
      ...{ cp: ['other price', 0.4, 0.3], v: ['other price', 1.2, 0.9], pv: ['other price', -0.3, -0.6] },
      pp: ['other price', -20, -40],
    });
  });

  it('are unknown without a tick, and shares are locked by orders of another poll', async () => {
    expect(await fieldsOf('m3 yes')).toEqual({
      ...{ tsc: ['equal', 3, 3], asc: ['other poll', 3, 2], sp: ['equal', 0.1, 0.1], c: ['equal', 0.3, 0.3] },
      ...{ cp: ['unknown', null, 0.1], v: ['unknown', null, 0.3], pv: ['unknown', null, 0], pp: ['unknown', null, 0] },
    });
  });

  it('are unexplained where neither rounding nor a price explains them', async () => {
    expect(await fieldsOf('m4 yes')).toEqual({
      ...{ tsc: ['equal', 6, 6], asc: ['equal', 6, 6], sp: ['unexplained', 0.25, 0.250002], c: ['equal', 1.5, 1.5] },
      ...{ cp: ['unexplained', 0.2, 0.3], v: ['equal', 1.2, 1.2], pv: ['unexplained', -0.3, -0.2] },
      pp: ['equal', -20, -20],
    });
  });

  it('follow from a tick of more than 7 days before the poll only if it is the last one of its market', async () => {
    const { cp: lasting, pp: lastingPercent } = await fieldsOf('m5 yes');
    expect([lasting, lastingPercent]).toEqual([
      ['equal', 0.3, 0.3],
      ['equal', 50, 50],
    ]);
    const { cp: changed, pp: changedPercent } = await fieldsOf('m6 yes');
    expect([changed, changedPercent]).toEqual([
      ['unknown', null, 0.3],
      ['unknown', null, 50],
    ]);
  });

  it('are the same when price_hours holds the ticks', async () => {
    const rows = () => data.ask('SELECT * FROM position_field_reconciliation ORDER BY asset, field');
    const ofTicks = await rows();
    expect(await fieldsOf('m7 yes')).toMatchObject({ cp: ['equal', 0.3, 0.3], v: ['equal', 0.3, 0.3] });
    const { owner, name } = host.database;
    const connection = new Connection({ endpoint: owner, database: name, application: 'test' });
    onTestFinished(() => connection.close());
    const source = { log: 'log', partition: 0, shards: [connection] };
    while (await rollUpNextBlocks(source, { committed: 65_536 }, new AbortController().signal));
    expect(await data.ask('SELECT count() AS open FROM price_blocks FINAL WHERE rollup_id = 0')).toEqual([{ open: 0 }]);
    expect(await rows()).toEqual(ofTicks);
  });

  it('read no other ticks than those of 7 days before the polls until shortly after', async () => {
    const plan = await host.database.run('EXPLAIN indexes = 1 SELECT * FROM position_field_reconciliation', 'reader');
    const ticks = plan
      .split('ReadFromMergeTree ')
      .filter((part) => part.startsWith(`(${host.database.name}.price_ticks)`));
    expect(ticks.length).toBeGreaterThan(0);
    for (const part of ticks)
      expect(part).toMatch(/PrimaryKey\s+Keys:\s+market\s+received_at\s+(_offset\s+)?Condition: .*received_at in \[/);
  });
});
