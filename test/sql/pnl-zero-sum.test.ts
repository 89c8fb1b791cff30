import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { polled, seen, trade } from './account-data.js';
import { ago, tick, time, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

const MARKETS = ['open', 'won', 'half', 'outside'];

/** Both sides of a fill. */
function fill(id: string, market: string, sides: readonly Values[], quantity: string): Values[] {
  return sides.map((side, i) => {
    const { account, outcome, ...fields } = side as { account: string; outcome: string };
    const on = { event: 'e', market, asset: `${market} ${outcome}`, executed_at: time(Number(id)), quantity };
    return trade(account, `${id} ${i}`, { ...on, trade_id: id, ...fields });
  });
}

beforeAll(async () => {
  data = new WarehouseData(host.database);
  await data.insert(
    'market_observations',
    MARKETS.map((market) => ({
      ...{ market, event: 'e', received_at: time(0), poll_id: 'p' },
      ...{ yes_asset: `${market} yes`, no_asset: `${market} no` },
    })),
  );
  await data.insert('price_ticks', [
    tick('open', ago(60), 0.55, { bid: 0.5, ask: 0.58 }),
    tick('half', ago(60), 0.55, { bid: null, ask: 0.58 }),
    tick('outside', ago(60), 0.55, { bid: 0.5, ask: 0.58 }),
    tick('won', ago(60), 1, { bid: null, ask: null }),
  ]);
  const yes = { outcome: 'yes', price: '0.6' };
  const no = { outcome: 'no', price: '0.4' };
  await data.insert('trade_records', [
    // Minted: ann pays 6 for 10 YES, and a fee; bob 4 for 10 NO.
    ...fill(
      '1',
      'open',
      [
        { ...yes, account: 'ann', fee: '0.012' },
        { ...no, account: 'bob' },
      ],
      '10',
    ),
    // ann sells 3 YES to cid at 0.7; then ann and bob merge 2.
    ...fill(
      '2',
      'open',
      [
        { ...yes, account: 'ann', side: 'SELL', price: '0.7' },
        { ...yes, account: 'cid', price: '0.7', fee: '0.0042' },
      ],
      '3',
    ),
    ...fill(
      '3',
      'open',
      [
        { ...yes, account: 'ann', side: 'SELL', price: '0.5', fee: '0.002' },
        { ...no, account: 'bob', side: 'SELL', price: '0.5' },
      ],
      '2',
    ),
    ...fill(
      '4',
      'won',
      [
        { ...yes, account: 'ann' },
        { ...no, account: 'bob' },
      ],
      '5',
    ),
    ...fill(
      '5',
      'half',
      [
        { ...yes, account: 'ann' },
        { ...no, account: 'bob' },
      ],
      '1',
    ),
    ...fill('6', 'outside', [{ ...yes, account: 'ann' }], '4'),
  ]);
  for (const account of ['ann', 'bob', 'cid']) {
    const { receipt, page } = polled('trades', account, time(1000));
    await data.insert('polls', [receipt]);
    await data.insert('account_pages', [{ ...page, ...seen(account, time(1000), String(receipt.poll_id)), items: 0 }]);
  }
});

const of = (price: string) =>
  data.ask(
    `SELECT market, accounts, one_sided_fills, yes_shares, no_shares, cash_flow, value, fees, pnl, difference
     FROM pnl_zero_sum(price = '${price}') ORDER BY market`,
  );

describe('the profits and losses of a closed set of accounts', () => {
  // Cash: -6 - 4 + 2.1 - 2.1 + 1 + 1 = -8, for 8 pairs of YES and NO.
  const open = {
    ...{ market: 'open', accounts: 3, one_sided_fills: 0, yes_shares: 8, no_shares: 8, cash_flow: -8, fees: 0.0182 },
    ...{ value: 8, pnl: -0.0182, difference: 0 },
  };
  const half = {
    ...{ market: 'half', accounts: 2, one_sided_fills: 0, yes_shares: 1, no_shares: 1, cash_flow: -1, fees: 0 },
    ...{ value: 1, pnl: 0, difference: 0 },
  };
  // YES won: 5 were paid for 5, and 5 come back.
  const won = { ...half, market: 'won', yes_shares: 0, no_shares: 0, cash_flow: 0, value: 0 };
  const outside = {
    ...{ market: 'outside', accounts: 1, one_sided_fills: 1, yes_shares: 4, no_shares: 0, cash_flow: -2.4, fees: 0 },
    ...{ value: 2.2, pnl: -0.2, difference: -0.2 },
  };

  it('and fees are 0 at the chance; a fill with one side of ours is counted', async () => {
    expect(await of('chance')).toEqual([half, open, outside, won]);
  });

  it('and fees are 0 at mid where the book has two sides, and unknown elsewhere', async () => {
    // 4 × 0.54 - 2.4.
    const atMid = { ...outside, value: 2.16, pnl: -0.24, difference: -0.24 };
    expect(await of('mid')).toEqual([{ ...half, value: null, pnl: null, difference: null }, open, atMid, won]);
  });

  it('and fees are the spread of all shares at the best bid', async () => {
    // 8 × 0.5 + 8 × (1 - 0.58) = 7.36: 8 × 0.08 less.
    const atBid = { ...open, value: 7.36, pnl: -0.6582, difference: -0.64 };
    const toBid = { ...outside, value: 2, pnl: -0.4, difference: -0.4 };
    expect(await of('bid')).toEqual([{ ...half, value: null, pnl: null, difference: null }, atBid, toBid, won]);
  });

  it('can be valued at no other price', async () => {
    await expect(of('last')).rejects.toThrow('price is chance, mid or bid');
  });
});
