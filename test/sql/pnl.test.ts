import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../core/index.js';
import { useDatabase } from '../support/database.js';
import { polled, seen, trade } from './account-data.js';
import { booksOf, decimalText, type Fill } from './cost-basis.js';
import { ago, tick, time, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

beforeAll(() => {
  data = new WarehouseData(host.database);
});

/** Fills that never sell more than is held; now and then all of it. */
const randomFills = (minLength: number, maxLength: number) =>
  fc
    .array(
      fc.record({
        sells: fc.boolean(),
        part: fc.integer({ min: 1, max: 20 }),
        quantity: fc.integer({ min: 1, max: 30_000 }),
        price: fc.integer({ min: 1, max: 99 }),
      }),
      { minLength, maxLength, size: 'max' },
    )
    .map((trades) => {
      let held = 0;
      return trades.map((one): Fill => {
        const sells = one.sells && held > 0;
        const most = one.part === 20 ? held : ((one.quantity - 1) % held) + 1;
        const quantity = sells ? most : one.quantity;
        held += sells ? -quantity : quantity;
        return { side: sells ? 'SELL' : 'BUY', quantity: BigInt(quantity), price: BigInt(one.price) };
      });
    });
const positions = fc.array(randomFills(1, 120), { minLength: 50, maxLength: 150, size: 'max' });

/** A number that has nothing to do with the time of a trade. */
const orderOf = ({ trade_record_id }: Values): number => Number(`0x${sha256Hex(String(trade_record_id)).slice(0, 8)}`);

const amounts = ({ side, quantity, price }: Fill) => ({
  side,
  quantity: decimalText(quantity, 2),
  price: decimalText(price, 2),
});

/** A walk that read the trades of an account to their end. */
async function completeWalk(account: string, at: string): Promise<void> {
  const { receipt, page } = polled('trades', account, at);
  await data.insert('polls', [receipt]);
  await data.insert('account_pages', [{ ...page, items: 0 }]);
}

/** The results of the views, amounts as text. */
const booked = (account: string) =>
  data.ask<{ asset: string; shares: string; cost: string; realised: string; fifoCost: string; fifoRealised: string }>(
    `SELECT asset, toString(shares) AS shares, toString(cost) AS cost, toString(realised_pnl) AS realised,
       toString(fifo_cost) AS fifoCost, toString(fifo_realised_pnl) AS fifoRealised
     FROM pnl_by_asset WHERE account = '${account}' ORDER BY asset`,
  );

const asTexts = (asset: string, fills: Iterable<Fill>) => {
  const { shares, cost, realised, fifoCost } = booksOf(fills);
  const fifoRealised = realised + fifoCost - cost;
  return {
    ...{ asset, shares: decimalText(shares, 2), cost: decimalText(cost, 6), realised: decimalText(realised, 6) },
    ...{ fifoCost: decimalText(fifoCost, 6), fifoRealised: decimalText(fifoRealised, 6) },
  };
};

const clock = (seconds: number) => time(seconds).replace('T', ' ').padEnd(26, '0');

describe('average cost, and first in, first out', () => {
  it('are exact to the millionth for any sequence of trades, now and at the end of every day', async () => {
    let accounts = 0;
    // One run has as many sequences as a test of its own would have runs. A failing one is made smaller for as long.
    await fc.assert(
      fc.asyncProperty(positions, async (assets) => {
        accounts += 1;
        await expectExactCosts(`random ${accounts}`, assets);
      }),
      { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 1), interruptAfterTimeLimit: 120_000 },
    );
  });

  async function expectExactCosts(account: string, assets: readonly (readonly Fill[])[]): Promise<void> {
    const expected = [];
    const expectedDays = [];
    const rows: Values[] = [];
    for (const [n, trades] of assets.entries()) {
      const asset = `asset ${String(n).padStart(3, '0')}`;
      expected.push(asTexts(asset, trades));
      // A trade every six hours.
      const at = (i: number) => time(i * 21_600 + i / 1000);
      for (const [i, fill] of trades.entries()) {
        const position = { asset, market: '', event: '', executed_at: at(i) };
        rows.push(trade(account, `${asset}/${i}`, { ...position, ...amounts(fill) }));
        if (at(i).slice(0, 10) === at(i + 1).slice(0, 10) && i + 1 < trades.length) continue;
        const { shares, cost, fifoCost } = asTexts(asset, trades.slice(0, i + 1));
        expectedDays.push({ asset, day: at(i).slice(0, 10), trades: i + 1, shares, cost, fifoCost });
      }
    }
    // Stored in another order than they were made.
    const shuffled = rows.toSorted((x, y) => orderOf(x) - orderOf(y));
    await data.insert('trade_records', shuffled);
    expect(await booked(account)).toEqual(expected);
    const days = await data.ask(
      `SELECT asset, toString(toDate(begins_at)) AS day, trades, toString(bought_shares - sold_shares) AS shares,
         toString(cost) AS cost, toString(fifo_cost) AS fifoCost
       FROM position_costs(period_seconds = 86400) WHERE account = '${account}' ORDER BY asset, begins_at`,
    );
    expect(days).toEqual(expectedDays);
  }

  it('are exact at the end of every minute of a long history, in memory that grows with its trades', async () => {
    const [fills = []] = fc.sample(randomFills(400, 400), { numRuns: 1, seed: 12 });
    await data.insert(
      'trade_records',
      fills.map((fill, i) => trade('long', `long/${i}`, { asset: 'a', executed_at: time(i * 60), ...amounts(fill) })),
    );
    // Of another asset one trade a minute, too many for arrays of all purchases for each of them.
    await host.database.run(`
      INSERT INTO trade_records (_log, _partition, _offset, _index, received_at, account, poll_id, page, pass_began_at, trade_record_id, side, asset, quantity, price, executed_at)
      SELECT 'log', 0, number, 0, now64(6), 'long', 'p', 0, now64(6), concat('many/', toString(number)), if(number % 2 = 0, 'BUY', 'SELL'), 'b', 2 - number % 2, 0.5, toDateTime64('2026-01-01', 6, 'UTC') + 60 * number
      FROM numbers(3000)`);
    const rows = await host.database.rows<Record<string, unknown>>(
      `SELECT asset, toUInt32(trades) AS trades, toString(bought_shares - sold_shares) AS shares, toString(cost) AS cost, toString(fifo_cost) AS fifoCost
       FROM position_costs(period_seconds = 60) WHERE account = 'long' AND (asset = 'a' OR trades % 1000 = 0) ORDER BY asset, trades
       SETTINGS max_memory_usage = 60000000`,
    );
    const booksAt = (trades: number) => {
      const { shares, cost, fifoCost } = asTexts('a', fills.slice(0, trades));
      return { asset: 'a', trades, shares, cost, fifoCost };
    };
    const checked = [1, 63, 64, 65, 129, 300, 399, 400];
    expect(rows).toHaveLength(fills.length + 3);
    expect(checked.map((trades) => rows[trades - 1])).toEqual(checked.map(booksAt));
    // Every second trade leaves one share, at 0.5.
    expect(rows.slice(-3)).toEqual(
      [1000, 2000, 3000].map((trades) => ({
        ...{ asset: 'b', trades, shares: `${trades / 2}` },
        ...{ cost: `${trades / 4}`, fifoCost: `${trades / 4}` },
      })),
    );
  });

  it('rounds the cost of a part of a purchase half to even, and the rest has what is left', async () => {
    // 3 millionths of a share at 0.5 are worth 1.5 millionths of USDC, rounded to 2.
    // The first of them is worth 0.5, rounded to 0: 2 are left. The first two are worth 1: 1 is left.
    const fill = (n: number, side: string, quantity: string) =>
      trade('parts', `p${n}`, { side, quantity, price: '0.5', executed_at: time(n * 86_400) });
    await data.insert('trade_records', [
      fill(0, 'BUY', '0.000003'),
      fill(1, 'SELL', '0.000001'),
      fill(2, 'SELL', '0.000001'),
      fill(3, 'SELL', '0.000001'),
    ]);
    const rows = await data.ask<{ cost: string }>(
      `SELECT toString(fifo_cost) AS cost FROM position_costs(period_seconds = 86400) WHERE account = 'parts' ORDER BY begins_at`,
    );
    expect(rows.map(({ cost }) => cost)).toEqual(['0.000002', '0.000002', '0.000001', '0']);
  });

  it('rounds a half to even', async () => {
    // 1.000001 USDC cannot be paid with steps of 0.01, so the halves come from prices: 0.01 × 0.01 = 100 millionths,
    // and 100 × 1 ÷ 8 = 12.5 and 300 × 1 ÷ 8 = 37.5 millionths.
    const buy = (quantity: bigint, price: bigint): Fill => ({ side: 'BUY', quantity, price });
    const sell = (quantity: bigint): Fill => ({ side: 'SELL', quantity, price: 50n });
    const cases: readonly (readonly [string, readonly Fill[], string])[] = [
      ['down', [buy(1n, 1n), { side: 'BUY', quantity: 7n, price: 0n }, sell(1n)], '0.000088'],
      ['up', [buy(3n, 1n), { side: 'BUY', quantity: 5n, price: 0n }, sell(1n)], '0.000262'],
    ];
    for (const [asset, fills, cost] of cases) {
      expect(asTexts(asset, fills).cost).toBe(cost);
      await data.insert(
        'trade_records',
        fills.map((fill, i) => trade('half', `${asset}/${i}`, { asset, ...amounts(fill), executed_at: time(i) })),
      );
    }
    expect((await booked('half')).map(({ asset, cost }) => [asset, cost])).toEqual([
      ['down', '0.000088'],
      ['up', '0.000262'],
    ]);
  });

  it('rounds what a fill is worth half to even, also where the product of its digits needs more than 128 bits', async () => {
    const cases = [
      ['1', '0.0000005', '0'],
      ['3', '0.0000005', '0.000002'],
      ['1', '0.000000500001', '0.000001'],
      ['20000000000001', '0.0000005', '10000000'],
      ['20000000000003', '0.0000005', '10000000.000002'],
      ['0.000001', '20.5', '0.00002'],
      ['0.000003', '20.5', '0.000062'],
    ];
    await data.insert(
      'trade_records',
      cases.map(([quantity, price], i) =>
        trade('worth', `worth/${i}`, { asset: `worth/${i}`, side: 'BUY', quantity, price, executed_at: time(i) }),
      ),
    );
    expect((await booked('worth')).map(({ cost }) => cost)).toEqual(cases.map(([, , worth]) => worth));
  });

  it('folds trades of one moment in the order in which the exchange listed them', async () => {
    const fills: Fill[] = [
      { side: 'BUY', quantity: 300n, price: 33n },
      { side: 'SELL', quantity: 100n, price: 50n },
      { side: 'BUY', quantity: 100n, price: 77n },
      { side: 'SELL', quantity: 199n, price: 50n },
      { side: 'BUY', quantity: 7n, price: 1n },
    ];
    // The first two were seen in the first pass and never again; of the others the second pass of the same poll had the
    // newest on its first page. A list begins with the newest.
    const first = { poll_id: 'one', pass_began_at: time(10), received_at: time(10), page: 0 };
    const second = { poll_id: 'one', pass_began_at: time(20) };
    const positions = [
      { ...first, _index: 1 },
      { ...first, _index: 0 },
      { ...second, received_at: time(20.5), page: 1, _index: 0 },
      { ...second, received_at: time(20), page: 0, _index: 1 },
      { ...second, received_at: time(20), page: 0, _index: 0 },
    ];
    const rows = fills.map((fill, i) => trade('ties', `tie ${(i * 7) % 5}`, { ...amounts(fill), ...positions[i] }));
    await data.insert('trade_records', rows);
    expect(await booked('ties')).toEqual([asTexts('y', fills)]);
    expect(
      asTexts(
        'y',
        [...fills].reverse().sort((a, b) => (a.side < b.side ? -1 : 1)),
      ),
    ).not.toEqual(asTexts('y', fills));
  });

  it('reports sales beyond the known purchases', async () => {
    await data.insert('trade_records', [
      trade('short', 's1', { quantity: '5', executed_at: time(0) }),
      trade('short', 's2', { quantity: '8', side: 'SELL', executed_at: time(1) }),
      trade('short', 's3', { quantity: '4', executed_at: time(2) }),
    ]);
    const rows = await data.ask(`SELECT shares, oversold_shares FROM holdings WHERE account = 'short'`);
    expect(rows).toEqual([{ shares: 1, oversold_shares: 3 }]);
    const unexplained = `SELECT unexplained, complete_to FROM pnl_by_account WHERE account = 'short'`;
    expect(await data.ask(unexplained)).toEqual([{ unexplained: 0, complete_to: null }]);
    await completeWalk('short', time(1));
    expect(await data.ask(unexplained)).toMatchObject([{ unexplained: 0 }]);
    await completeWalk('short', time(3));
    expect(await data.ask(unexplained)).toEqual([{ unexplained: 1, complete_to: clock(3) }]);
  });
});

describe('profit and loss', () => {
  beforeAll(async () => {
    const market = (name: string) => ({
      market: name,
      event: 'pe',
      received_at: time(0),
      poll_id: 'p',
      yes_asset: `${name} yes`,
      no_asset: `${name} no`,
    });
    await data.insert('market_observations', ['open', 'won', 'told', 'lost'].map(market));
    await data.insert('price_ticks', [
      tick('open', ago(30), 0.35),
      tick('won', ago(30), 1, { bid: null, ask: null }),
      tick('told', ago(30), 0.97),
      tick('lost', ago(30), 0, { bid: null, ask: null }),
    ]);
    const chance = { event: 'pe', market: 'told', chance: 1, source: 'change' };
    await data.insert('chance_points', [{ ...chance, occurred_at: ago(20), received_at: ago(20) }]);
    const own = (name: string, outcome: string, n: number, fields: Values) =>
      trade('pnl', `${name} ${outcome} ${n}`, {
        event: 'pe',
        market: name,
        asset: `${name} ${outcome}`,
        executed_at: time(n),
        ...fields,
      });
    await data.insert('trade_records', [
      own('open', 'no', 1, { quantity: '10', price: '0.6', fee: '0.012' }),
      own('open', 'no', 2, { quantity: '4', price: '0.7', side: 'SELL', fee: '0.0056' }),
      own('won', 'yes', 1, { quantity: '5', price: '0.2', fee: '0' }),
      own('told', 'yes', 1, { quantity: '3', price: '0.5', fee: null }),
      own('lost', 'yes', 1, { quantity: '2', price: '0.5', fee: '0' }),
    ]);
    const payout = { type: 'PAYOUT', status: 'COMPLETED', created_at: time(100) };
    await data.insert('transaction_records', [
      { ...seen('pnl', time(200), 'p'), ...payout, transaction_id: 'x1', asset: 'won yes', amount: '5' },
      { ...seen('pnl', time(200), 'p'), ...payout, transaction_id: 'x2', asset: 'lost yes', amount: '0.5' },
    ]);
    await completeWalk('pnl', time(500));
  });

  it('is realised by sales and settlements, and unrealised at the chance', async () => {
    const rows = await data.ask(
      `SELECT asset, settlement, shares, cost, payout, value, fees, realised_pnl, unrealised_pnl, pnl, payout_difference
       FROM pnl_by_asset WHERE account = 'pnl' ORDER BY asset`,
    );
    const closed = { shares: 0, cost: 0, value: 0, fees: 0, unrealised_pnl: 0 };
    expect(rows).toEqual([
      // Resolved against us, and yet something was paid: not explained.
      {
        asset: 'lost yes',
        settlement: 'payout',
        ...closed,
        payout: 0.5,
        realised_pnl: -0.5,
        pnl: -0.5,
        payout_difference: 0.5,
      },
      {
        asset: 'open no',
        settlement: 'open',
        shares: 6,
        cost: 3.6,
        payout: 0,
        value: 3.9,
        fees: 0.0176,
        realised_pnl: 0.4,
        unrealised_pnl: 0.3,
        pnl: 0.6824,
        payout_difference: null,
      },
      // No PAYOUT is known, but the chance stream said 1.
      {
        asset: 'told yes',
        settlement: 'inferred',
        ...closed,
        payout: 3,
        realised_pnl: 1.5,
        pnl: 1.5,
        payout_difference: null,
      },
      {
        asset: 'won yes',
        settlement: 'payout',
        ...closed,
        payout: 5,
        realised_pnl: 4,
        pnl: 4,
        payout_difference: 0,
      },
    ]);
  });

  it('is summed by event and by account', async () => {
    const sums = {
      assets: 4,
      open_assets: 1,
      inferred: 1,
      unexplained: 1,
      realised_pnl: 5.4,
      fees: 0.0176,
      pnl: 5.6824,
    };
    const columns = 'assets, open_assets, inferred, unexplained, realised_pnl, fees, pnl';
    expect(await data.ask(`SELECT event, ${columns} FROM pnl_by_event WHERE account = 'pnl'`)).toEqual([
      { event: 'pe', ...sums },
    ]);
    expect(await data.ask(`SELECT ${columns} FROM pnl_by_account WHERE account = 'pnl'`)).toEqual([sums]);
  });

  it('is known of an asset that was sold before its event closed, although event search never listed it', async () => {
    const on = { event: 'closed', market: 'over', asset: 'over either', executed_at: time(1) };
    await data.insert('trade_records', [
      trade('early', 'e1', { ...on, quantity: '10', price: '0.6', fee: '0.01' }),
      trade('early', 'e2', { ...on, side: 'SELL', quantity: '10', price: '0.7', fee: '0.01', executed_at: time(2) }),
    ]);
    const columns = 'value, realised_pnl, unrealised_pnl, pnl';
    // 10 × 0.1 - 0.02 of fees.
    const known = [{ value: 0, realised_pnl: 1, unrealised_pnl: 0, pnl: 0.98 }];
    expect(await data.ask(`SELECT ${columns} FROM pnl_by_asset WHERE account = 'early'`)).toEqual(known);
    expect(await data.ask(`SELECT ${columns} FROM pnl_by_account WHERE account = 'early'`)).toEqual(known);
  });

  it('is reconciled with the positions of the exchange, and differences are visible', async () => {
    const { poll, receipt, page } = polled('open-positions', 'pnl', time(1000));
    await data.insert('polls', [receipt]);
    await data.insert('account_pages', [page]);
    await data.insert('trade_records', [
      trade('pnl', 'late', { event: 'pe', market: 'open', asset: 'open yes', executed_at: time(1001) }),
      trade('pnl', 'gone', { event: 'pe', market: 'open', asset: 'stray', executed_at: time(3) }),
    ]);
    const position = { ...seen('pnl', time(1000), poll), event: 'pe', market: 'open' };
    await data.insert('position_observations', [
      { ...position, asset: 'open no', shares: '6', cost: '3.599999' },
      { ...position, asset: 'never traded', shares: '1', cost: '0.1' },
    ]);
    const differences = () =>
      data.ask(
        `SELECT asset, state, shares_difference, cost_difference FROM position_reconciliation
         WHERE account = 'pnl' AND state != 'equal' AND asset NOT LIKE '%told%' ORDER BY asset`,
      );
    // The latest complete walk began before the positions were polled.
    expect((await differences()).map(({ asset, state }) => [asset, state])).toEqual([
      ['never traded', 'unread'],
      ['open no', 'unread'],
      ['open yes', 'newer'],
      ['stray', 'unread'],
    ]);
    await completeWalk('pnl', time(1000));
    // A later poll of the positions does not change that these are comparable.
    const later = polled('open-positions', 'pnl', time(1010));
    await data.insert('polls', [later.receipt]);
    await data.insert('account_pages', [{ ...later.page, items: 0 }]);
    expect(await differences()).toEqual([
      { asset: 'never traded', state: 'unexplained', shares_difference: -1, cost_difference: -0.1 },
      { asset: 'open no', state: 'unexplained', shares_difference: 0, cost_difference: 0.000001 },
      { asset: 'open yes', state: 'newer', shares_difference: 1, cost_difference: 0.5 },
      { asset: 'stray', state: 'unexplained', shares_difference: 1, cost_difference: 0.5 },
    ]);
  });
});

describe('a million trades', () => {
  it('are folded in seconds', async () => {
    await host.database.run(`
      INSERT INTO trade_records (_log, _partition, _offset, _index, received_at, account, poll_id, page,
        trade_record_id, trade_id, side, market, asset, quantity, price, fee, executed_at)
      SELECT 'log', 0, number, 99 - number % 100, toDateTime64('2026-02-01 00:00:00', 6, 'UTC') + intDiv(number, 100),
        'many', toString(intDiv(number, 100)), 0, toString(number), toString(number),
        if(intDiv(number, 500) % 2 = 1, 'SELL', 'BUY'), concat('m', toString(number % 500)), concat('a', toString(number % 500)),
        toDecimal128(1 + number % 97, 12) / 4, toDecimal128(1 + number % 89, 12) / 100, 0,
        toDateTime64('2026-02-01 00:00:00', 6, 'UTC') + intDiv(number, 100)
      FROM numbers(1000000)`);
    const started = performance.now();
    const [row] = await data.ask(
      `SELECT count() AS assets, sum(trades) AS trades, sum(toInt64(shares = 0)) AS flat FROM holdings WHERE account = 'many'`,
    );
    expect(row).toMatchObject({ assets: 500, trades: 1_000_000 });
    expect(performance.now() - started).toBeLessThan(50_000);
  });
});
