import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { polled, seen, trade } from './account-data.js';
import { tick, time, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

const DAY = 86_400;

beforeAll(async () => {
  data = new WarehouseData(host.database);
  await data.insert('market_observations', [
    { market: 'm', event: 'cup', received_at: time(0), poll_id: 'p', yes_asset: 'm yes', no_asset: 'm no' },
    { market: 'n', event: 'cup', received_at: time(0), poll_id: 'p', yes_asset: 'n yes', no_asset: 'n no' },
  ]);
  await data.insert('price_ticks', [
    tick('m', time(600), 0.5, { bid: 0.49, ask: 0.51 }),
    tick('m', time(DAY + 600), 0.45, { bid: 0.44, ask: 0.48 }),
    tick('m', time(2 * DAY), 0.4, { bid: null, ask: 0.5 }),
  ]);
  const on = { event: 'cup', market: 'm', asset: 'm yes' };
  await data.insert('trade_records', [
    trade('dora', 'd1', { ...on, quantity: '10', price: '0.4', fee: '0.02', executed_at: time(0) }),
    trade('dora', 'd2', { ...on, side: 'SELL', quantity: '4', price: '0.6', fee: '0.01', executed_at: time(DAY) }),
    trade('eve', 'e1', { ...on, asset: 'm no', quantity: '2', price: '0.5', executed_at: time(0) }),
    // A market whose order book has no tick.
    trade('fay', 'f1', {
      event: 'cup',
      market: 'n',
      asset: 'n yes',
      quantity: '2',
      price: '0.5',
      executed_at: time(0),
    }),
  ]);
  await data.insert('chance_points', [
    { market: 'n', event: 'cup', occurred_at: time(60), received_at: time(60), chance: 0.7, source: 'change' },
  ]);
  const payout = {
    ...seen('dora', time(4 * DAY), 'p'),
    type: 'PAYOUT',
    status: 'COMPLETED',
    created_at: time(3 * DAY),
  };
  // The purchases of gil are not known, of 'k yes' nothing but the payout.
  await data.insert('trade_records', [
    trade('gil', 'g1', { ...on, side: 'SELL', quantity: '1', price: '0.6', executed_at: time(0) }),
  ]);
  // In January and February.
  await data.insert('trade_records', [
    trade('hal', 'h1', { ...on, quantity: '2', price: '0.5', executed_at: time(0) }),
    trade('hal', 'h2', { ...on, side: 'SELL', quantity: '2', price: '0.6', executed_at: time(30 * DAY) }),
  ]);
  await data.insert('transaction_records', [
    { ...payout, transaction_id: 'x1', asset: 'm yes', amount: '6' },
    { ...payout, account: 'gil', transaction_id: 'x2', asset: 'm yes', amount: '3' },
    { ...payout, account: 'gil', transaction_id: 'x3', asset: 'k yes', amount: '2' },
  ]);
  for (const operation of ['trades', 'transactions']) {
    const { receipt, page } = polled(operation, 'dora', time(5 * DAY));
    await data.insert('polls', [receipt]);
    await data.insert('account_pages', [{ ...page, items: 0 }]);
  }
});

const days = (price: string, columns: string) =>
  data.ask(
    `SELECT toString(toDate(begins_at)) AS day, ${columns} FROM pnl_by_period(period_seconds = ${DAY}, price = '${price}')
     WHERE account = 'dora' ORDER BY day`,
  );

describe('profit and loss by period', () => {
  it('says which fraction of each period the histories of the account are complete for', async () => {
    const found: number[] = [];
    for (const view of ['pnl_by_period', 'equity_curve']) {
      for (const period of [DAY, 28 * DAY]) {
        const rows = await data.ask<Record<string, number>>(
          `SELECT toUnixTimestamp64Micro(begins_at) / 1e6 AS at, toUnixTimestamp64Micro(complete_to) / 1e6 AS complete, observed, backfilled, missing
           FROM ${view}(period_seconds = ${period}, price = 'chance') WHERE account = 'dora' ORDER BY at LIMIT 3`,
        );
        for (const { at = 0, complete = 0, ...fractions } of rows) {
          const observed = Math.max(0, Math.min(1, (complete - at) / period));
          expect(fractions).toEqual({ observed, backfilled: 0, missing: 1 - observed });
          found.push(observed);
        }
      }
    }
    expect(found.filter((one) => one > 0 && one < 1).length).toBeGreaterThan(1);
    expect(found).toContain(1);
  });

  it('is realised by trades and the payout, and marked at the last price of the period', async () => {
    const rows = await days(
      'chance',
      'trades, shares, price, value, cost, fees, payout, realised_pnl, fifo_realised_pnl, cash_flow, unrealised_pnl, pnl',
    );
    expect(rows).toEqual([
      // 10 × 0.4 = 4 paid, worth 10 × 0.5: 5 - 4 - 0.02.
      {
        ...{ day: '2026-01-05', trades: 1, shares: 10, price: 0.5, value: 5, cost: 4, fees: 0.02, payout: 0 },
        ...{ realised_pnl: 0, fifo_realised_pnl: 0, cash_flow: -4, unrealised_pnl: 1, pnl: 0.98 },
      },
      // 4 × (0.6 - 0.4) = 0.8 realised; 6 left, worth 6 × 0.45 = 2.7: -4 + 2.4 + 2.7 - 0.03 = 1.07, which is 0.09 more.
      {
        ...{ day: '2026-01-06', trades: 1, shares: 6, price: 0.45, value: 2.7, cost: 2.4, fees: 0.01, payout: 0 },
        ...{ realised_pnl: 0.8, fifo_realised_pnl: 0.8, cash_flow: 2.4, unrealised_pnl: 0.3, pnl: 0.09 },
      },
      // 6 × (0.4 - 0.45).
      {
        ...{ day: '2026-01-07', trades: 0, shares: 6, price: 0.4, value: 2.4, cost: 2.4, fees: 0, payout: 0 },
        ...{ realised_pnl: 0, fifo_realised_pnl: 0, cash_flow: 0, unrealised_pnl: 0, pnl: -0.3 },
      },
      // 6 × (1 - 0.4).
      {
        ...{ day: '2026-01-08', trades: 0, shares: 0, price: null, value: 0, cost: 0, fees: 0, payout: 6 },
        ...{ realised_pnl: 3.6, fifo_realised_pnl: 3.6, cash_flow: 6, unrealised_pnl: 0, pnl: 3.6 },
      },
    ]);
  });

  it('is marked at mid or at the best bid where they are known, and counts from the last known value', async () => {
    const at = (day: number, price: number | null, value: number | null, pnl: number | null) => ({
      ...{ day: `2026-01-0${day}`, price, value, pnl },
    });
    // mid: 6 × 0.46 = 2.76: -1.6 + 2.76 - 0.03 = 1.13; the sum of all days is 4.37.
    expect(await days('mid', 'price, value, pnl')).toEqual([
      at(5, 0.5, 5, 0.98),
      at(6, 0.46, 2.76, 0.15),
      at(7, null, null, null),
      at(8, null, 0, 3.24),
    ]);
    expect(await days('bid', 'price, value, pnl')).toEqual([
      at(5, 0.49, 4.9, 0.88),
      at(6, 0.44, 2.64, 0.13),
      at(7, null, null, null),
      at(8, null, 0, 3.36),
    ]);
    // What NO could be sold for: 1 - ask.
    expect(
      await data.ask(
        `SELECT price, value FROM pnl_by_period(period_seconds = ${DAY}, price = 'bid') WHERE account = 'eve' ORDER BY begins_at LIMIT 2`,
      ),
    ).toEqual([
      { price: 0.49, value: 0.98 },
      { price: 0.52, value: 1.04 },
    ]);
  });

  it('says how old the price was at the end of the period', async () => {
    // From 12:10, 12:10 and 12:00 to midnight; nothing is held after the settlement.
    const ages = [42_600, 42_600, 43_200, null].map((seconds) =>
      expect.objectContaining({ price_age_seconds: seconds }),
    );
    expect(await days('chance', 'price_age_seconds')).toEqual(ages);
  });

  it('adds up to the profit or loss of each account, also where trades are missing', async () => {
    const columns = ['pnl', 'realised_pnl', 'fifo_realised_pnl', 'cash_flow', 'payout', 'fees'];
    const accounts = "WHERE account IN ('dora', 'eve', 'fay', 'gil')";
    const sums = await data.ask(
      `SELECT account, ${columns.map((column) => `sum(${column}) AS ${column}`).join(', ')}
       FROM pnl_by_period(period_seconds = 3600, price = 'chance') ${accounts} GROUP BY account ORDER BY account`,
    );
    const now = await data.ask(
      `SELECT account, ${columns.join(', ')} FROM pnl_by_account ${accounts} ORDER BY account`,
    );
    // 2 × (0.7 - 0.5) at the chance of the stream; the order book has no price.
    expect(now[2]).toMatchObject({ account: 'fay', pnl: 0.4 });
    expect(sums).toEqual(now.map((one) => (one === now[2] ? { ...one, pnl: null } : one)));
    // A sale at 0.6, and payouts of 3 and 2.
    expect(sums[3]).toMatchObject({ account: 'gil', pnl: 5.6, payout: 5 });
    const [row] = await data.ask(
      `SELECT trades, pnl, closed_markets FROM account_performance(period_seconds = ${DAY}, price = 'chance') WHERE account = 'gil'`,
    );
    expect(row).toEqual({ trades: 1, pnl: 5.6, closed_markets: 1 });
  });

  it('has calendar months', async () => {
    const columns = "formatDateTime(begins_at, '%Y-%m') AS month, trades, pnl";
    const months = (view: string) =>
      data.ask(
        `SELECT ${columns} FROM ${view}(period_seconds = 2592000, price = 'chance') WHERE account = 'hal' ORDER BY month LIMIT 3`,
      );
    for (const view of ['pnl_by_period', 'equity_curve']) {
      expect(await months(view)).toEqual([
        // 2 × (0.4 - 0.5), the last price of January.
        { month: '2026-01', trades: 1, pnl: -0.2 },
        // 2 × (0.6 - 0.5) in all.
        { month: '2026-02', trades: 1, pnl: 0.4 },
        { month: '2026-03', trades: 0, pnl: 0 },
      ]);
    }
    const [row] = await data.ask(
      `SELECT toString(begins_at) AS begins_at, trades, pnl FROM account_performance(period_seconds = 2592000, price = 'chance') WHERE account = 'hal'`,
    );
    expect(row).toEqual({ begins_at: '2026-01-01 00:00:00.000000', trades: 2, pnl: 0.2 });
    expect(
      await data.ask(
        `SELECT toString(begins_at) AS begins_at, trades FROM position_costs(period_seconds = 2592000) WHERE account = 'hal' ORDER BY begins_at`,
      ),
    ).toEqual([
      { begins_at: '2026-01-01 00:00:00.000000', trades: 1 },
      { begins_at: '2026-02-01 00:00:00.000000', trades: 2 },
    ]);
  });

  it('refuses a price that it does not know', async () => {
    await expect(days('last', 'pnl')).rejects.toThrow('price is chance, mid or bid');
  });
});

describe('the equity curve', () => {
  const curve = (price: string) =>
    data.ask(
      `SELECT pnl, equity, drawdown, unpriced FROM equity_curve(period_seconds = ${DAY}, price = '${price}')
       WHERE account = 'dora' ORDER BY begins_at`,
    );

  it('is the sum of all periods, with the distance from its highest value', async () => {
    expect(await curve('chance')).toEqual([
      { pnl: 0.98, equity: 0.98, drawdown: 0, unpriced: 0 },
      { pnl: 0.09, equity: 1.07, drawdown: 0, unpriced: 0 },
      { pnl: -0.3, equity: 0.77, drawdown: 0.3, unpriced: 0 },
      { pnl: 3.6, equity: 4.37, drawdown: 0, unpriced: 0 },
    ]);
    expect(await curve('mid')).toEqual([
      { pnl: 0.98, equity: 0.98, drawdown: 0, unpriced: 0 },
      { pnl: 0.15, equity: 1.13, drawdown: 0, unpriced: 0 },
      { pnl: null, equity: null, drawdown: null, unpriced: 1 },
      // 4.37 - 1.13, the last known equity.
      { pnl: 3.24, equity: 4.37, drawdown: 0, unpriced: 0 },
    ]);
  });

  it('gives drawdown, return on capital and hit rate of every account', async () => {
    const rows = await data.ask(
      `SELECT * EXCEPT (begins_at, complete_to), toUnixTimestamp64Micro(complete_to) / 1e6 AS complete
       FROM account_performance(period_seconds = ${DAY}, price = 'chance') WHERE account = 'dora'`,
    );
    // The most that was held at the end of a day cost 4: 4.37 ÷ 4.
    expect(rows).toEqual([
      {
        ...{
          account: 'dora',
          trades: 2,
          pnl: 4.37,
          unpriced: 0,
          unpriced_periods: 0,
          max_drawdown: 0.3,
          max_capital: 4,
        },
        ...{ return_on_capital: 1.0925, closed_markets: 1, won_markets: 1, hit_rate: 1 },
        // The walks of its histories began then.
        complete: Date.parse(`${time(5 * DAY)}Z`) / 1000,
      },
    ]);
  });

  it('gives no profit, drawdown or return while the price of a held asset is unknown', async () => {
    // At mid: dora's third day has none, but its market is paid now. The order book of fay's market has no price.
    const rows = await data.ask(
      `SELECT account, pnl, unpriced, unpriced_periods > 0 AS had_unpriced, max_drawdown, max_capital, return_on_capital
       FROM account_performance(period_seconds = ${DAY}, price = 'mid') WHERE account IN ('dora', 'fay') ORDER BY account`,
    );
    expect(rows).toEqual([
      {
        ...{ account: 'dora', pnl: 4.37, unpriced: 0, had_unpriced: 1, max_drawdown: 0, max_capital: 4 },
        return_on_capital: 1.0925,
      },
      {
        ...{ account: 'fay', pnl: null, unpriced: 1, had_unpriced: 1, max_drawdown: null, max_capital: 1 },
        return_on_capital: null,
      },
    ]);
  });
});
