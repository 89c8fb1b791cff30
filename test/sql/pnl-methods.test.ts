import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { polled, seen, trade } from './account-data.js';
import { ago, tick, time, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

const market = (name: string): Values => ({
  ...{ market: name, event: 'cup', received_at: time(0), poll_id: 'p' },
  ...{ yes_asset: `${name} yes`, no_asset: `${name} no` },
});

let trades = 0;
const fill = (asset: string, side: 'BUY' | 'SELL', quantity: string, price: string, fee = '0'): Values => {
  trades += 1;
  const traded = { event: 'cup', market: asset.split(' ')[0], asset, executed_at: time(trades) };
  return trade('cara', `t${trades}`, { ...traded, side, quantity, price, fee });
};

beforeAll(async () => {
  data = new WarehouseData(host.database);
  await data.insert('market_observations', ['open', 'won', 'void'].map(market));
  await data.insert('price_ticks', [
    tick('open', ago(30), 0.55, { bid: 0.5, ask: 0.56 }),
    tick('won', ago(30), 1, { bid: null, ask: null }),
    tick('void', ago(30), 0.6),
  ]);
  await data.insert('trade_records', [
    fill('open yes', 'BUY', '10', '0.4', '0.02'),
    fill('open yes', 'BUY', '10', '0.6'),
    fill('open yes', 'SELL', '5', '0.7', '0.01'),
    // A mint is a purchase, a merge a sale: the other side has the YES shares.
    fill('open no', 'BUY', '4', '0.35', '0.01'),
    fill('open no', 'SELL', '2', '0.45'),
    fill('won yes', 'BUY', '6', '0.3'),
    fill('won yes', 'BUY', '4', '0.5'),
    fill('won yes', 'SELL', '5', '0.8'),
    fill('void yes', 'BUY', '4', '0.6'),
  ]);
  const payout = { ...seen('cara', time(200), 'p'), type: 'PAYOUT', status: 'COMPLETED', created_at: time(100) };
  await data.insert('transaction_records', [
    { ...payout, transaction_id: 'x1', asset: 'won yes', amount: '5' },
    { ...payout, transaction_id: 'x2', asset: 'void yes', amount: '2' },
  ]);
  for (const operation of ['trades', 'transactions']) {
    const { receipt, page } = polled(operation, 'cara', time(500));
    await data.insert('polls', [receipt]);
    await data.insert('account_pages', [{ ...page, items: 0 }]);
  }
});

describe('profit and loss by three methods', () => {
  it('is worked out by hand for every asset', async () => {
    const rows = await data.ask(
      `SELECT asset, settlement, shares, value, cost, realised_pnl, unrealised_pnl, fifo_cost, fifo_realised_pnl,
         fifo_unrealised_pnl, cash_flow, fees, pnl
       FROM pnl_by_asset WHERE account = 'cara' ORDER BY asset`,
    );
    const closed = { shares: 0, value: 0, cost: 0, unrealised_pnl: 0, fifo_cost: 0, fifo_unrealised_pnl: 0, fees: 0 };
    expect(rows).toEqual([
      // 4 × 0.35 = 1.4 paid, 2 × 0.45 = 0.9 received. One lot: both costs of the 2 held are 0.7. Worth 2 × (1 - 0.55) = 0.9.
      {
        ...{ asset: 'open no', settlement: 'open', shares: 2, value: 0.9, cost: 0.7, realised_pnl: 0.2 },
        ...{ unrealised_pnl: 0.2, fifo_cost: 0.7, fifo_realised_pnl: 0.2, fifo_unrealised_pnl: 0.2 },
        ...{ cash_flow: -0.5, fees: 0.01, pnl: 0.39 },
      },
      // 4 + 6 = 10 paid for 20, 5 × 0.7 = 3.5 received for 5. Average cost: 10 - 10 × 5 ÷ 20 = 7.5, realised 3.5 - 2.5.
      // First in, first out: 10 - 5 × 0.4 = 8, realised 3.5 - 2. Worth 15 × 0.55 = 8.25.
      // pnl: 1 + 0.75 = 1.5 + 0.25 = -6.5 + 8.25 = 1.75, less 0.03.
      {
        ...{ asset: 'open yes', settlement: 'open', shares: 15, value: 8.25, cost: 7.5, realised_pnl: 1 },
        ...{ unrealised_pnl: 0.75, fifo_cost: 8, fifo_realised_pnl: 1.5, fifo_unrealised_pnl: 0.25 },
        ...{ cash_flow: -6.5, fees: 0.03, pnl: 1.72 },
      },
      // Refunded at 0.5: 2 - 4 × 0.6.
      {
        ...{ asset: 'void yes', settlement: 'payout', ...closed },
        ...{ realised_pnl: -0.4, fifo_realised_pnl: -0.4, cash_flow: -0.4, pnl: -0.4 },
      },
      // 1.8 + 2 paid, 4 received, then 5 × 1: the methods agree, as nothing is held.
      {
        ...{ asset: 'won yes', settlement: 'payout', ...closed },
        ...{ realised_pnl: 5.2, fifo_realised_pnl: 5.2, cash_flow: 5.2, pnl: 5.2 },
      },
    ]);
  });

  it('is summed by market, with the pairs held, by event and by account', async () => {
    const columns = 'realised_pnl, unrealised_pnl, fifo_realised_pnl, fifo_unrealised_pnl, cash_flow, fees, pnl';
    const rows = await data.ask(
      `SELECT market, yes_shares, no_shares, pairs, value, ${columns} FROM pnl_by_market WHERE account = 'cara' ORDER BY market`,
    );
    const none = {
      yes_shares: 0,
      no_shares: 0,
      pairs: 0,
      value: 0,
      unrealised_pnl: 0,
      fifo_unrealised_pnl: 0,
      fees: 0,
    };
    const closed = (pnl: number) => ({ ...none, realised_pnl: pnl, fifo_realised_pnl: pnl, cash_flow: pnl, pnl });
    expect(rows).toEqual([
      // 2 pairs are worth 2; the 13 YES beyond them 13 × 0.55 = 7.15.
      {
        ...{ market: 'open', yes_shares: 15, no_shares: 2, pairs: 2, value: 9.15, realised_pnl: 1.2 },
        ...{
          unrealised_pnl: 0.95,
          fifo_realised_pnl: 1.7,
          fifo_unrealised_pnl: 0.45,
          cash_flow: -7,
          fees: 0.04,
          pnl: 2.11,
        },
      },
      { market: 'void', ...closed(-0.4) },
      { market: 'won', ...closed(5.2) },
    ]);
    const sums = {
      ...{ realised_pnl: 6, unrealised_pnl: 0.95, fifo_realised_pnl: 6.5, fifo_unrealised_pnl: 0.45 },
      ...{ cash_flow: -2.2, fees: 0.04, pnl: 6.91 },
    };
    expect(await data.ask(`SELECT ${columns} FROM pnl_by_event WHERE account = 'cara'`)).toEqual([sums]);
    expect(await data.ask(`SELECT ${columns} FROM pnl_by_account WHERE account = 'cara'`)).toEqual([sums]);
  });

  it('values what is held at the mid, or at what it could be sold for, and sums that', async () => {
    const at = (price: string) =>
      data.ask(
        `SELECT asset, price, value, realised_pnl, unrealised_pnl, pnl FROM pnl_by_asset_at(price = '${price}')
         WHERE account = 'cara' AND asset LIKE 'open%' ORDER BY asset`,
      );
    const sum = (price: string) =>
      data.ask(`SELECT value, pnl FROM pnl_sums(level = 'account', price = '${price}') WHERE account = 'cara'`);
    // (0.5 + 0.56) ÷ 2 = 0.53 for YES, 0.47 for NO: 2 × 0.47 - 0.7, 15 × 0.53 - 7.5.
    expect(await at('mid')).toEqual([
      { asset: 'open no', price: 0.47, value: 0.94, realised_pnl: 0.2, unrealised_pnl: 0.24, pnl: 0.43 },
      { asset: 'open yes', price: 0.53, value: 7.95, realised_pnl: 1, unrealised_pnl: 0.45, pnl: 1.42 },
    ]);
    // NO could be sold at 1 - 0.56.
    expect(await at('bid')).toEqual([
      { asset: 'open no', price: 0.44, value: 0.88, realised_pnl: 0.2, unrealised_pnl: 0.18, pnl: 0.37 },
      { asset: 'open yes', price: 0.5, value: 7.5, realised_pnl: 1, unrealised_pnl: 0, pnl: 0.97 },
    ]);
    // With 5.2 of the market that was won, and -0.4 of the void one.
    expect(await sum('mid')).toEqual([{ value: 8.89, pnl: 6.65 }]);
    expect(await sum('bid')).toEqual([{ value: 8.38, pnl: 6.14 }]);
    expect(await sum('chance')).toEqual(await data.ask("SELECT value, pnl FROM pnl_by_account WHERE account = 'cara'"));
    await expect(at('last')).rejects.toThrow('price is chance, mid or bid');
  });
});
