import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { polled, seen, trade } from './account-data.js';
import { ago, eventSeen, time, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

const market = (name: string, event: string): Values => ({
  ...{ market: name, event, received_at: time(0), poll_id: 'p' },
  ...{ yes_asset: `${name} yes`, no_asset: `${name} no` },
});

const item = (record: string, fields: Values): Values => ({
  ...{ ...seen('', time(0), 'p'), trade_record_id: record, user_id: 'zoe', market: 'm1', side: 'BUY' },
  ...{ quantity: '10', price: '0.5', position: 'YES', is_primary: true, executed_at: '2026-01-05 12:00:30', ...fields },
});

beforeAll(async () => {
  data = new WarehouseData(host.database);
  await data.insert('event_observations', [
    eventSeen('rain', time(0), { category: 'Weather', markets: ['m1', 'm2'] }),
    eventSeen('cup', time(0), { category: null, markets: ['m3'] }),
  ]);
  await data.insert('market_observations', [market('m1', 'rain'), market('m2', 'rain'), market('m3', 'cup')]);
  const { receipt, page } = polled('trades', 'ann', time(900));
  await data.insert('polls', [receipt]);
  await data.insert('account_pages', [{ ...page, items: 0 }]);
  const on = { event: 'rain', market: 'm1', asset: 'm1 yes', executed_at: '2026-01-05 12:00:00' };
  await data.insert('trade_records', [
    // A pair minted between two of ours: ann, the taker, bought NO at 0.4, bob YES at 0.6.
    trade('ann', 'a1', { ...on, trade_id: 't1', asset: 'm1 no', quantity: '10', price: '0.4', fee: '0.02' }),
    trade('bob', 'b1', { ...on, trade_id: 't1', quantity: '10', price: '0.6', fee: '0' }),
    trade('ann', 'a2', {
      ...on,
      trade_id: 't2',
      side: 'SELL',
      quantity: '4',
      price: '0.7',
      executed_at: '2026-01-05 12:01:00',
    }),
    trade('bob', 'b3', {
      ...on,
      trade_id: '',
      quantity: '6',
      price: '0.5',
      fee: '0.01',
      executed_at: '2026-01-05 12:00:59',
    }),
    trade('bob', 'b4', {
      ...on,
      trade_id: 't4',
      event: 'cup',
      market: 'm3',
      asset: 'm3 no',
      quantity: '7',
      price: '0.3',
    }),
  ]);
  await data.insert('activity_records', [
    item('a1', { user_id: 'ann', quantity: '10', price: '0.4', position: 'NO', is_primary: false }),
    item('z1', { quantity: '30', price: '0.5', is_primary: null }),
    item('z2', { user_id: 'yan', quantity: '20', price: '0.3', is_primary: null, position: '', token_name: 'No' }),
    item('z3', { quantity: '5', price: '0.2', side: 'SELL', executed_at: '2026-01-05 12:01:30' }),
    item('z4', { market: 'm3', quantity: '8', price: '0.25', is_primary: null, position: '', user_id: '' }),
    item('z5', { market: 'm9', quantity: '1', price: '0.1', executed_at: null }),
  ]);
});

describe('activity', () => {
  it('has the event, the outcome and the YES price of every item', async () => {
    const rows = await data.ask(
      'SELECT trade_record_id AS id, event, market, outcome, price, yes_price FROM activity ORDER BY id',
    );
    expect(rows).toEqual([
      { id: 'a1', event: 'rain', market: 'm1', outcome: 'NO', price: 0.4, yes_price: 0.6 },
      { id: 'z1', event: 'rain', market: 'm1', outcome: 'YES', price: 0.5, yes_price: 0.5 },
      { id: 'z2', event: 'rain', market: 'm1', outcome: 'NO', price: 0.3, yes_price: 0.7 },
      { id: 'z3', event: 'rain', market: 'm1', outcome: 'YES', price: 0.2, yes_price: 0.2 },
      { id: 'z4', event: 'cup', market: 'm3', outcome: '', price: 0.25, yes_price: null },
      { id: 'z5', event: '', market: 'm9', outcome: 'YES', price: 0.1, yes_price: 0.1 },
    ]);
  });
});

describe('fills', () => {
  it('have each fill of our accounts once, as the taker traded it, with the fees of both of our sides', async () => {
    const rows = await data.ask(
      `SELECT fill_id, event, market, outcome, side, quantity, price, yes_price, fee, user_id FROM fills
       WHERE scope = 'own' ORDER BY fill_id`,
    );
    const own = { event: 'rain', market: 'm1', user_id: '' };
    expect(rows).toEqual([
      { ...own, fill_id: 'b3', outcome: 'YES', side: 'BUY', quantity: 6, price: 0.5, yes_price: 0.5, fee: 0.01 },
      { ...own, fill_id: 't1', outcome: 'NO', side: 'BUY', quantity: 10, price: 0.4, yes_price: 0.6, fee: 0.02 },
      { ...own, fill_id: 't2', outcome: 'YES', side: 'SELL', quantity: 4, price: 0.7, yes_price: 0.7, fee: 0 },
      {
        ...{ fill_id: 't4', event: 'cup', market: 'm3', outcome: 'NO', side: 'BUY', quantity: 7 },
        ...{ price: 0.3, yes_price: 0.7, fee: 0, user_id: '' },
      },
    ]);
  });

  it('have every item of the activity feed, without a fee', async () => {
    const rows = await data.ask(`SELECT fill_id, user_id, fee FROM fills WHERE scope = 'all' ORDER BY fill_id`);
    expect(rows).toEqual([
      { fill_id: 'a1', user_id: 'ann', fee: null },
      { fill_id: 'z1', user_id: 'zoe', fee: null },
      { fill_id: 'z2', user_id: 'yan', fee: null },
      { fill_id: 'z3', user_id: 'zoe', fee: null },
      { fill_id: 'z4', user_id: '', fee: null },
      { fill_id: 'z5', user_id: 'zoe', fee: null },
    ]);
  });
});

describe('volume', () => {
  it('is known per minute, market, outcome and side, own trades and all users apart', async () => {
    const rows = await data.ask(
      `SELECT scope, substring(toString(begins_at), 12, 8) AS at, category, event, outcome, side, trades, shares, volume,
         yes_value, round(vwap, 6) AS vwap, traders, fees
       FROM volume_by_period(period_seconds = 60) WHERE market = 'm1' ORDER BY scope, at, outcome, side`,
    );
    const all = { scope: 'all', category: 'Weather', event: 'rain', fees: null };
    const own = { scope: 'own', category: 'Weather', event: 'rain', traders: null };
    expect(rows).toEqual([
      // 10 × 0.4 + 20 × 0.3 = 10 of NO, in YES terms 10 × 0.6 + 20 × 0.7 = 20.
      {
        ...{ ...all, at: '12:00:00', outcome: 'NO', side: 'BUY', trades: 2, shares: 30, volume: 10 },
        ...{ yes_value: 20, vwap: 0.666667, traders: 2 },
      },
      {
        ...{ ...all, at: '12:00:00', outcome: 'YES', side: 'BUY', trades: 1, shares: 30, volume: 15 },
        ...{ yes_value: 15, vwap: 0.5, traders: 1 },
      },
      {
        ...{ ...all, at: '12:01:00', outcome: 'YES', side: 'SELL', trades: 1, shares: 5, volume: 1 },
        ...{ yes_value: 1, vwap: 0.2, traders: 1 },
      },
      {
        ...{ ...own, at: '12:00:00', outcome: 'NO', side: 'BUY', trades: 1, shares: 10, volume: 4 },
        ...{ yes_value: 6, vwap: 0.6, fees: 0.02 },
      },
      {
        ...{ ...own, at: '12:00:00', outcome: 'YES', side: 'BUY', trades: 1, shares: 6, volume: 3 },
        ...{ yes_value: 3, vwap: 0.5, fees: 0.01 },
      },
      {
        ...{ ...own, at: '12:01:00', outcome: 'YES', side: 'SELL', trades: 1, shares: 4, volume: 2.8 },
        ...{ yes_value: 2.8, vwap: 0.7, fees: 0 },
      },
    ]);
  });

  it('is known per category and calendar month, each user counted once, and fills without a time apart', async () => {
    const rows = await data.ask(
      `SELECT scope, toString(begins_at) AS at, category, trades, shares, volume, traders, fees, complete_to
       FROM volume_by_category(period_seconds = 2592000) ORDER BY scope, category, at`,
    );
    const all = { scope: 'all', fees: null, complete_to: null };
    const begins = '2026-01-01 00:00:00.000000';
    expect(rows).toEqual([
      { ...all, at: begins, category: '', trades: 1, shares: 8, volume: 2, traders: 0 },
      { ...all, at: null, category: '', trades: 1, shares: 1, volume: 0.1, traders: 1 },
      { ...all, at: begins, category: 'Weather', trades: 4, shares: 65, volume: 26, traders: 3 },
      {
        ...{ scope: 'own', at: begins, category: '', trades: 1, shares: 7, volume: 2.1, traders: null, fees: 0 },
        complete_to: '2026-01-05 12:15:00.000000',
      },
      {
        ...{
          scope: 'own',
          at: begins,
          category: 'Weather',
          trades: 3,
          shares: 20,
          volume: 9.8,
          traders: null,
          fees: 0.03,
        },
        complete_to: '2026-01-05 12:15:00.000000',
      },
    ]);
  });

  it('has no average price where no shares changed hands', async () => {
    await data.insert('activity_records', [item('nothing', { market: 'm2', quantity: '0' })]);
    const none = [{ shares: 0, vwap: null }];
    const where = `WHERE market = 'm2' AND scope = 'all'`;
    expect(await data.ask(`SELECT shares, vwap FROM volume_by_period(period_seconds = 60) ${where}`)).toEqual(none);
    expect(await data.ask(`SELECT shares, vwap FROM volume_by_market ${where}`)).toEqual(none);
    expect(await data.ask(`SELECT shares, vwap FROM volume_by_market_and_day ${where}`)).toEqual(none);
  });
});

describe('what was bought and sold', () => {
  it('is signed in YES terms, and leaves out fills whose outcome is unknown', async () => {
    const rows = await data.ask(
      `SELECT scope, substring(toString(begins_at), 12, 8) AS at, market, bought_trades AS bought, sold_trades AS sold,
         unsigned_trades AS unsigned, bought_shares, sold_shares, net_shares, round(imbalance, 6) AS imbalance
       FROM trade_imbalance(period_seconds = 3600) WHERE market IN ('m1', 'm3') ORDER BY scope, market`,
    );
    expect(rows).toEqual([
      // 30 of YES bought, 10 + 20 of NO bought, 5 of YES sold.
      {
        ...{ scope: 'all', at: '12:00:00', market: 'm1', bought: 1, sold: 3, unsigned: 0 },
        ...{ bought_shares: 30, sold_shares: 35, net_shares: -5, imbalance: -0.076923 },
      },
      {
        ...{ scope: 'all', at: '12:00:00', market: 'm3', bought: 0, sold: 0, unsigned: 1 },
        ...{ bought_shares: 0, sold_shares: 0, net_shares: 0, imbalance: null },
      },
      // 6 of YES bought, 10 of NO bought, 4 of YES sold.
      {
        ...{ scope: 'own', at: '12:00:00', market: 'm1', bought: 1, sold: 2, unsigned: 0 },
        ...{ bought_shares: 6, sold_shares: 14, net_shares: -8, imbalance: -0.4 },
      },
      {
        ...{ scope: 'own', at: '12:00:00', market: 'm3', bought: 0, sold: 1, unsigned: 0 },
        ...{ bought_shares: 0, sold_shares: 7, net_shares: -7, imbalance: -1 },
      },
    ]);
  });
});

describe('sizes of trades', () => {
  it('are those that occurred, by the nearest rank', async () => {
    const rows = await data.ask(
      `SELECT trades, mean_shares, min_shares, p10_shares, p50_shares, p90_shares, p99_shares, max_shares
       FROM trade_sizes(period_seconds = 86400) WHERE scope = 'all' AND market = 'm1'`,
    );
    // 5, 10, 20 and 30 shares: the ranks are 0.4, 2, 3.6 and 3.96, rounded up.
    const shares = { min_shares: 5, p10_shares: 5, p50_shares: 10, p90_shares: 30, p99_shares: 30, max_shares: 30 };
    expect(rows).toEqual([{ trades: 4, mean_shares: 16.25, ...shares }]);
  });
});

describe('volume beside the prices', () => {
  const at = (minute: number, last: number): Values => ({
    ...{ event: 'rain', market: 'm1', received_at: time(minute * 60), last, bid: null, ask: null },
  });
  const ask = () =>
    data.ask(
      `SELECT substring(toString(begins_at), 12, 8) AS at, market, open, close, ticks, trades, shares, volume, vwap, volume_observed
       FROM candles_with_volume(period_seconds = 60) WHERE market = 'm1' ORDER BY begins_at`,
    );
  const none = { trades: null, shares: null, volume: null, vwap: null, volume_observed: 0 };
  const all = { volume_observed: 1 };

  it('is unknown, not 0, as long as the activity feed was never read to its end', async () => {
    await data.insert('price_ticks', [at(0, 0.5), at(0.5, 0.52), at(3, 0.6), at(15, 0.6)]);
    expect(await ask()).toEqual([
      { at: '12:00:00', market: 'm1', open: 0.5, close: 0.52, ticks: 2, ...none },
      { at: '12:01:00', market: 'm1', open: null, close: null, ticks: 0, ...none },
      { at: '12:03:00', market: 'm1', open: 0.6, close: 0.6, ticks: 1, ...none },
      { at: '12:15:00', market: 'm1', open: 0.6, close: 0.6, ticks: 1, ...none },
    ]);
  });

  it('is the sum of the fills of all users, also where there is no tick, up to where the feed was read', async () => {
    const { receipt, page } = polled('activity', '', time(900));
    await data.insert('polls', [receipt]);
    await data.insert('account_pages', [{ ...page, items: 0 }]);
    // At 12:00 10 × 0.4 + 30 × 0.5 + 20 × 0.3; in YES terms 10 × 0.6 + 30 × 0.5 + 20 × 0.7 = 35 of 60 shares.
    expect(await ask()).toEqual([
      {
        ...{ at: '12:00:00', market: 'm1', open: 0.5, close: 0.52, ticks: 2 },
        ...{ trades: 3, shares: 60, volume: 25, vwap: 35 / 60, ...all },
      },
      {
        ...{ at: '12:01:00', market: 'm1', open: null, close: null, ticks: 0 },
        ...{ trades: 1, shares: 5, volume: 1, vwap: 0.2, ...all },
      },
      {
        ...{ at: '12:03:00', market: 'm1', open: 0.6, close: 0.6, ticks: 1 },
        ...{ trades: 0, shares: 0, volume: 0, vwap: null, ...all },
      },
      { at: '12:15:00', market: 'm1', open: 0.6, close: 0.6, ticks: 1, ...none },
    ]);
    // The end of the feed lies within the period: what was read is summed.
    expect(
      await data.ask(
        `SELECT trades, volume_observed, volume_missing, observed, missing FROM candles_with_volume(period_seconds = 3600) WHERE market = 'm1'`,
      ),
    ).toEqual([{ trades: 4, volume_observed: 0.25, volume_missing: 0.75, observed: 0, missing: 1 }]);

    // The feed was read up to 12:15: a quarter of the hour from noon on, and 49/96 of the day.
    for (const [view, at] of [
      ['volume_by_period(period_seconds = 3600)', 900 / 3600],
      ['volume_by_category(period_seconds = 86400)', 49 / 96],
      ['trade_sizes(period_seconds = 3600)', 900 / 3600],
      ['trade_imbalance(period_seconds = 3600)', 900 / 3600],
      ['volume_by_market_and_day', 49 / 96],
      ['volume_by_day', 49 / 96],
    ] as const) {
      const [row, ...others] = await data.ask(
        `SELECT DISTINCT observed, backfilled, missing FROM ${view} WHERE scope = 'all' AND observed IS NOT NULL`,
      );
      expect([view, row, others]).toEqual([view, { observed: at, backfilled: 0, missing: 1 - at }, []]);
    }
  });
});

describe('the markets with the greatest volume', () => {
  it('are ranked within a window that ends now', async () => {
    // As long as the time since the fills of this file.
    const window = Math.ceil(Date.now() / 1000 - Date.UTC(2026, 0, 5, 11) / 1000);
    const rows = await data.ask(
      `SELECT rank, event, market, title, trades, volume, round(share, 6) AS share, round(vwap, 6) AS vwap, traders
       FROM volume_leaders(window_seconds = ${window}) WHERE scope = 'all' ORDER BY rank`,
    );
    expect(rows).toEqual([
      // 26 of 28 USDC.
      {
        ...{ rank: 1, event: 'rain', market: 'm1', title: 'title of rain', trades: 4, volume: 26 },
        ...{ share: 0.928571, vwap: 0.553846, traders: 3 },
      },
      {
        rank: 2,
        event: 'cup',
        market: 'm3',
        title: 'title of cup',
        trades: 1,
        volume: 2,
        share: 0.071429,
        vwap: null,
        traders: 0,
      },
      {
        rank: 3,
        event: 'rain',
        market: 'm2',
        title: 'title of rain',
        trades: 1,
        volume: 0,
        share: 0,
        vwap: null,
        traders: 1,
      },
    ]);
    expect(await data.ask('SELECT * FROM volume_leaders(window_seconds = 60)')).toEqual([]);
  });
});

describe('the users who traded', () => {
  const columns = 'event, market, traders, trades, anonymous_trades AS anonymous';
  const byPeriod = (level: string, seconds: number) =>
    data.ask(
      `SELECT substring(toString(begins_at), 9, 5) AS at, ${columns} FROM traders_by_period(period_seconds = ${seconds}, level = '${level}')
       WHERE begins_at >= '2026-01-06' AND begins_at < '2026-01-07' ORDER BY begins_at, event DESC, market`,
    );
  const between = (level: string, from: string, to: string) =>
    data.ask(
      `SELECT ${columns}, observed, missing FROM traders_between(level = '${level}', from_at = '${from}', to_at = '${to}') ORDER BY event DESC`,
    );

  it('count once per market, event or period, whatever they traded', async () => {
    const at = (minute: number, user_id: string, name: string, side = 'BUY') =>
      item(`u${minute}`, { user_id, market: name, side, executed_at: ago(0, Date.UTC(2026, 0, 6, 10, minute)) });
    await data.insert('activity_records', [
      at(0, 'zoe', 'm1'),
      at(1, 'zoe', 'm1', 'SELL'),
      at(2, 'zoe', 'm2'),
      at(60, 'yan', 'm2'),
      at(61, 'ann', 'm3'),
      at(62, '', 'm1'),
    ]);
    const rain = { event: 'rain', anonymous: 0 };
    expect(await byPeriod('market', 3600)).toEqual([
      { ...rain, at: '06 10', market: 'm1', traders: 1, trades: 2 },
      { ...rain, at: '06 10', market: 'm2', traders: 1, trades: 1 },
      { ...rain, at: '06 11', market: 'm1', traders: 0, trades: 1, anonymous: 1 },
      { ...rain, at: '06 11', market: 'm2', traders: 1, trades: 1 },
      { at: '06 11', event: 'cup', market: 'm3', traders: 1, trades: 1, anonymous: 0 },
    ]);
    const cup = { event: 'cup', market: '', traders: 1, trades: 1, anonymous: 0 };
    const whole = { event: 'rain', market: '', traders: 2, trades: 5, anonymous: 1 };
    expect(await byPeriod('event', 86_400)).toEqual([
      { ...whole, at: '06 00' },
      { ...cup, at: '06 00' },
    ]);
    expect(await byPeriod('all', 86_400)).toEqual([{ ...whole, at: '06 00', event: '', traders: 3, trades: 6 }]);

    // The feed was read up to 12:15 on the day before.
    const unread = { observed: 0, missing: 1 };
    expect(await between('event', '2026-01-06', '2026-01-07')).toEqual([
      { ...whole, ...unread },
      { ...cup, ...unread },
    ]);
    expect(await between('event', '2026-01-06', '2026-01-06 11:00')).toEqual([
      { ...whole, traders: 1, trades: 3, anonymous: 0, ...unread },
    ]);
    const [both] = await between('all', '2026-01-05 12:00', '2026-01-06 12:00');
    expect(both).toEqual({
      event: '',
      market: '',
      traders: 3,
      trades: 12,
      anonymous: 2,
      observed: 1 / 96,
      missing: 95 / 96,
    });
    await expect(byPeriod('account', 60)).rejects.toThrow('level is market, event or all');
  });
});

describe('open interest', () => {
  it('is at least what our accounts hold of the more held outcome of an unresolved market', async () => {
    const rows = await data.ask(
      'SELECT event, market, yes_shares, no_shares, min_open_interest, accounts FROM open_interest ORDER BY market',
    );
    // bob holds 16 YES, ann 10 NO; her 4 sold shares were never bought: her holding of YES is -4.
    expect(rows).toEqual([
      { event: 'rain', market: 'm1', yes_shares: 16, no_shares: 10, min_open_interest: 16, accounts: 2 },
      { event: 'cup', market: 'm3', yes_shares: 0, no_shares: 7, min_open_interest: 7, accounts: 1 },
    ]);
  });
});

describe('a fill whose outcome is unknown', () => {
  beforeAll(async () => {
    const closed = { event: 'closed', market: 'm8', executed_at: '2026-01-07 12:00:00' };
    await data.insert('trade_records', [
      // Event search never listed this market: its event closed before recording began.
      trade('bob', 'b8', { ...closed, trade_id: 't8', asset: 'm8 either', quantity: '3', price: '0.2', fee: '0.01' }),
    ]);
    const at = { market: 'm7', executed_at: '2026-01-07 12:00:00', is_primary: null, position: '' };
    await data.insert('activity_records', [
      item('z7', { ...at, quantity: '10', price: '0.9' }),
      item('z8', { ...at, quantity: '30', price: '0.2', position: 'NO' }),
    ]);
  });

  it('has no YES price', async () => {
    const of = (scope: string, market: string) =>
      data.ask(
        `SELECT fill_id, event, outcome, price, yes_price FROM fills
         WHERE scope = '${scope}' AND market = '${market}' ORDER BY fill_id`,
      );
    expect(await of('own', 'm8')).toEqual([
      { fill_id: 't8', event: 'closed', outcome: '', price: 0.2, yes_price: null },
    ]);
    expect(await of('all', 'm7')).toEqual([
      { fill_id: 'z7', event: '', outcome: '', price: 0.9, yes_price: null },
      { fill_id: 'z8', event: '', outcome: 'NO', price: 0.2, yes_price: 0.8 },
    ]);
  });

  it('counts as volume, is left out of the average price in YES terms, and the views say so', async () => {
    const columns = 'trades, shares, volume, yes_value, unpriced_trades, unpriced_shares, vwap';
    // 10 × 0.9 + 30 × 0.2 = 15; in YES terms only 30 × 0.8 = 24 of the 30 shares of NO.
    const all = {
      trades: 2,
      shares: 40,
      volume: 15,
      yes_value: 24,
      unpriced_trades: 1,
      unpriced_shares: 10,
      vwap: 0.8,
    };
    const own = { trades: 1, shares: 3, volume: 0.6, yes_value: 0, unpriced_trades: 1, unpriced_shares: 3, vwap: null };
    for (const view of ['volume_by_market', 'volume_by_market_and_day']) {
      const of = (scope: string, market: string) =>
        data.ask(`SELECT ${columns} FROM ${view} WHERE scope = '${scope}' AND market = '${market}'`);
      expect([view, await of('all', 'm7')]).toEqual([view, [all]]);
      expect([view, await of('own', 'm8')]).toEqual([view, [own]]);
    }
    const byPeriod = await data.ask(
      `SELECT outcome, ${columns} FROM volume_by_period(period_seconds = 60) WHERE market = 'm7' ORDER BY outcome`,
    );
    expect(byPeriod).toEqual([
      { outcome: '', ...all, trades: 1, shares: 10, volume: 9, yes_value: 0, vwap: null },
      { outcome: 'NO', ...all, trades: 1, shares: 30, volume: 6, unpriced_trades: 0, unpriced_shares: 0 },
    ]);
  });
});
