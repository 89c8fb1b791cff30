import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { polled, seen, trade } from './account-data.js';
import { time, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let rows: Record<string, unknown>[];

/** The rows of all accounts by table, so that each table is filled with one statement. */
const tables = new Map<string, Values[]>();

function add(table: string, rows: readonly Values[]): void {
  tables.set(table, [...(tables.get(table) ?? []), ...rows]);
}

function poll(account: string, operation: string, at: number, table = '', rows: readonly Values[] = []): void {
  const { poll: poll_id, receipt, page } = polled(operation, account, time(at));
  add('polls', [receipt]);
  add('account_pages', [{ ...page, items: rows.length }]);
  if (rows.length > 0)
    add(
      table,
      rows.map((row) => ({ ...seen(account, time(at), poll_id), ...row })),
    );
}

/** Polls of open orders before and after one of balances, which began at second 1000. */
function polls(account: string, orders: readonly (readonly Values[])[], balances: readonly Values[]): void {
  const [before = [], after = before] = orders;
  poll(account, 'active-orders', 990, 'active_order_observations', before);
  poll(account, 'full-balances', 1000, 'balance_observations', balances);
  poll(account, 'active-orders', 1010, 'active_order_observations', after);
}

const readTo = (account: string, at: number) => {
  poll(account, 'trades', at);
  poll(account, 'transactions', at);
};

let transactions = 0;
const paid = (account: string, type: string, amount: string, fields: Values = {}): Values => ({
  ...seen(account, time(2000), 'walk'),
  ...{ transaction_id: `t${++transactions}`, type, amount, asset: 'usdc', status: 'COMPLETED', created_at: time(5) },
  ...fields,
});

const order = (order_id: string, side: string, quantity: string): Values => ({
  ...{ order_id, side, quantity, status: 'ACTIVE', price: '0.9' },
});

/** The rows of an account, in order of their assets. */
const reconciled = (account: string) =>
  rows
    .filter((one) => one.account === account)
    .map(({ asset, state, balance, exchange_balance, difference, free, exchange_free, free_difference }) => ({
      ...{ asset, state, balance, exchange_balance, difference, free, exchange_free, free_difference },
    }));

const entry = (asset: string, balance: string, free: string): Values => ({ asset, balance, free });

/** Deposits, trades, a mint, a merge and a payout, all before the poll. */
function fillAnn(): void {
  const on = (market: string, outcome: string) => ({ market, asset: `${market} ${outcome}`, executed_at: time(10) });
  add('trade_records', [
    trade('ann', '1', { ...on('m1', 'yes'), quantity: '10', price: '0.4', fee: '0.008' }),
    // Another account bought YES at 0.4 at the same time: a pair was minted. The sale merged a pair.
    trade('ann', '2', { ...on('m1', 'no'), quantity: '5', price: '0.6' }),
    trade('ann', '3', { ...on('m1', 'no'), side: 'SELL', quantity: '5', price: '0.55', executed_at: time(11) }),
    trade('ann', '4', { ...on('m2', 'yes'), quantity: '4', price: '0.25' }),
  ]);
  add('transaction_records', [
    paid('ann', 'DEPOSIT', '100'),
    paid('ann', 'DEPOSIT', '7', { status: 'FAILED' }),
    paid('ann', 'WITHDRAWAL', '20', { fee: '0.5' }),
    paid('ann', 'DEPOSIT', '3', { asset: 'other' }),
    paid('ann', 'PAYOUT', '4', { asset: 'm2 yes', created_at: time(500) }),
  ]);
  add('order_records', [
    {
      ...{ ...seen('ann', time(950), 'o'), order_id: 's1', event: 'e', market: 'm1', asset: 'm1 yes', side: 'SELL' },
      ...{ type: 'LIMIT', price: '0.9', original_quantity: '2', filled_quantity: '0', status: 'ACTIVE' },
    },
  ]);
  polls(
    'ann',
    [[order('s1', 'SELL', '2')]],
    [entry('usdc', '78.242', '78.242'), entry('other', '3', '3'), entry('m1 yes', '10', '8')],
  );
  readTo('ann', 2000);
}

/** What the exchange has differs from our records. */
function fillDifferent(account: string, completeTo: number): void {
  const bought = { market: 'm1', asset: 'm1 yes', quantity: '2', price: '0.5' };
  add('trade_records', [
    trade(account, `${account} 1`, { ...bought, executed_at: time(10) }),
    trade(account, `${account} 2`, { ...bought, asset: 'm1 no', executed_at: time(1001) }),
  ]);
  add('transaction_records', [
    paid(account, 'DEPOSIT', '10'),
    paid(account, 'DEPOSIT', '3', { asset: 'other', status: 'PENDING' }),
  ]);
  // An open BUY order locks an amount that is not known; the SELL order was placed between the polls of orders.
  polls(
    account,
    [[order('b', 'BUY', '1')], [order('b', 'BUY', '1'), order('s', 'SELL', '1')]],
    [entry('usdc', '9', '8.5'), entry('other', '3', '3'), entry('m1 yes', '1', '0'), entry('gift', '1', '1')],
  );
  readTo(account, completeTo);
}

/** An account without a login. */
function fillCat(): void {
  add('trade_records', [trade('cat', 'c1', { market: 'm1', asset: 'm1 yes', quantity: '2', executed_at: time(10) })]);
  polls('cat', [[]], [entry('usdc', '9', '9'), entry('m1 yes', '2', '2')]);
  poll('cat', 'trades', 2000);
}

beforeAll(async () => {
  const data = new WarehouseData(host.database);
  add('coin_observations', [
    { coin: 'usdc', ticker: 'USDC', received_at: time(0), poll_id: 'p' },
    { coin: 'other', ticker: 'OTHER', received_at: time(0), poll_id: 'p' },
  ]);
  add(
    'market_observations',
    ['m1', 'm2'].map((market) => ({
      ...{ market, event: 'e', received_at: time(0), poll_id: 'p' },
      ...{ yes_asset: `${market} yes`, no_asset: `${market} no` },
    })),
  );
  fillAnn();
  fillDifferent('dan', 900);
  fillDifferent('bob', 2000);
  fillCat();
  for (const [table, inserted] of tables) await data.insert(table, inserted);
  rows = await data.ask('SELECT * FROM balance_reconciliation ORDER BY account, asset');
});

describe('the balances of the exchange', () => {
  it('follow from deposits, withdrawals, trades, mints, merges, payouts, fees and open orders', () => {
    const equal = (asset: string, balance: number, free = balance) => ({
      ...{ asset, state: 'equal', balance, exchange_balance: balance, difference: 0 },
      ...{ free, exchange_free: free, free_difference: 0 },
    });
    // 100 - 20 - 0.5 - 10 × 0.4 - 0.008 - 5 × 0.6 + 5 × 0.55 - 4 × 0.25 + 4 × 1 = 78.242; 10 - 2 shares are free.
    expect(reconciled('ann')).toEqual([equal('m1 yes', 10, 8), equal('other', 3), equal('usdc', 78.242)]);
    expect(rows.find(({ account, ticker }) => account === 'ann' && ticker === 'USDC')).toMatchObject({
      ...{ deposits: 100, withdrawals: 20, cash_flow: -1.25, fees: 0.508 },
    });
  });

  it('differ for a stated reason', () => {
    const states = (account: string) =>
      reconciled(account).map(({ asset, state, difference, free }) => [asset, state, difference, free]);
    expect(states('dan')).toEqual([
      ['gift', 'unread', -1, null],
      ['m1 no', 'newer', 2, null],
      ['m1 yes', 'unread', 1, null],
      ['other', 'unread', -3, null],
      // 10 - 2 × 0.5 - 2 × 0.5; the second purchase is newer.
      ['usdc', 'newer', -1, null],
    ]);
    expect(states('bob')).toEqual([
      ['gift', 'unexplained', -1, null],
      ['m1 no', 'newer', 2, null],
      ['m1 yes', 'unexplained', 1, null],
      ['other', 'pending', -3, null],
      ['usdc', 'newer', -1, null],
    ]);
  });

  it('cannot be computed of coins where the transactions of the account cannot be read', () => {
    const columns = { difference: 0, free: 2, exchange_free: 2, free_difference: 0 };
    const unknown = { difference: null, free: null, exchange_free: 9, free_difference: null };
    expect(reconciled('cat')).toEqual([
      { asset: 'm1 yes', state: 'equal', balance: 2, exchange_balance: 2, ...columns },
      { asset: 'usdc', state: 'no transactions', balance: null, exchange_balance: 9, ...unknown },
    ]);
  });
});
