import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECORD_KINDS, type RecordKind } from '../../core/index.js';
import { accountPages } from '../../transforms/tables/account-pages.js';
import { activeOrderObservations } from '../../transforms/tables/active-order-observations.js';
import { balanceObservations } from '../../transforms/tables/balance-observations.js';
import { balanceUpdates } from '../../transforms/tables/balance-updates.js';
import { orderRecords } from '../../transforms/tables/order-records.js';
import { orderUpdates } from '../../transforms/tables/order-updates.js';
import { positionObservations } from '../../transforms/tables/position-observations.js';
import { positionStatsObservations, profileObservations } from '../../transforms/tables/profile-observations.js';
import { tpslOrderObservations } from '../../transforms/tables/tpsl-order-observations.js';
import { tradeRecords } from '../../transforms/tables/trade-records.js';
import { transactionRecords } from '../../transforms/tables/transaction-records.js';
import { AT, transformed } from './support.js';

const req = { operation: 'trades', status: 200, poll: 'p1', account: 'main', query: { page: 3, size: 100 } };
const answer = { receivedAt: AT, account: 'main', pollId: 'p1', page: 3 };

const TRADE =
  '{"i":"r1","t":"t1","u":"u1","or":"o1","s":"BUY","e":"e1","o":"m1","a":"a1","q":12.34,"p":0.57,"f":0.014068,';
const trades = (items: string) => `{"i":[${items}],"p":3,"s":100,"tp":4}`;
const asTrades = (items: string) =>
  transformed('account.trades', JSON.parse(trades(items)), { request: req }, trades(items));

describe('a page of trades', () => {
  it('becomes a row per trade, with every digit of every amount', () => {
    const output = asTrades(
      `${TRADE}"m":"2026-02-03T04:05:06.789Z"},{"i":"r2","q":12345678901234567890.123456789012,"p":1e-12,"f":null}`,
    );
    expect(output.rowsOf(tradeRecords)).toEqual([
      {
        answer,
        passBeganAt: AT,
        record: {
          tradeRecordId: 'r1',
          tradeId: 't1',
          userId: 'u1',
          orderId: 'o1',
          side: 'BUY',
          eventId: 'e1',
          marketId: 'm1',
          assetId: 'a1',
          quantity: '12.34',
          price: '0.57',
          fee: '0.014068',
          executedAtMicros: Date.UTC(2026, 1, 3, 4, 5, 6, 789) * 1000,
        },
      },
      expect.objectContaining({
        record: expect.objectContaining({
          quantity: '12345678901234567890.123456789012',
          price: '0.000000000001',
          fee: null,
        }),
      }),
    ]);
    expect(output.rowsOf(accountPages)).toEqual([
      { answer, record: { operation: 'trades', asset: '', items: 2, rejectedItems: 0 } },
    ]);
    expect(output.deadLetters).toEqual([]);
    const text = trades(`${TRADE}"m":null}`);
    const later = transformed('account.trades', JSON.parse(text), { request: { ...req, pass: AT - 5 } }, text);
    expect(later.rowsOf(tradeRecords)).toMatchObject([{ passBeganAt: AT - 5 }]);
  });

  it.each([
    ['has 13 decimals', '0.1234567890123'],
    ['has 27 digits before the point', '123456789012345678901234567'],
  ])('makes a dead letter of a trade whose fee %s, and rounds nothing', (_, fee) => {
    const output = asTrades(`${TRADE.replace('0.014068', fee)}"m":null},{"i":"r2","q":1,"p":0.5}`);
    expect(output.rowsOf(tradeRecords).map(({ record }) => record.tradeRecordId)).toEqual(['r2']);
    expect(output.deadLetters).toEqual([
      expect.objectContaining({
        jsonPath: 'trade r1 f',
        reason: 'expected an amount of at most 12 decimals and 26 digits before them',
        payload: expect.stringContaining(fee),
      }),
    ]);
    expect(output.rowsOf(accountPages).map(({ record }) => [record.items, record.rejectedItems])).toEqual([[1, 1]]);
  });

  it('has a dead letter with the exact text of an invalid entry', () => {
    const output = asTrades('{"i":"r1","q":"many","p":0.12345678901234567890}');
    expect(output.deadLetters).toEqual([
      expect.objectContaining({ payload: '{"i":"r1","q":"many","p":0.12345678901234567890}' }),
    ]);
    expect(output.rowsOf(accountPages).map(({ record }) => [record.items, record.rejectedItems])).toEqual([[0, 1]]);
  });

  it('is a dead letter when its request does not name the account', () => {
    const output = transformed('account.trades', { i: [] }, { request: { ...req, account: undefined } });
    expect(output.deadLetters.map(({ jsonPath }) => jsonPath)).toEqual(['req.account']);
    expect([...output.tables]).toEqual([]);
  });

  it('is read in any wrapper', () => {
    for (const body of ['[{"i":"r1","q":1,"p":0.5}]', '{"content":[{"i":"r1","q":1,"p":0.5}],"totalElements":1}']) {
      expect(transformed('account.trades', JSON.parse(body), { request: req }, body).rowsOf(tradeRecords)).toHaveLength(
        1,
      );
    }
  });
});

const rows = (kind: Parameters<typeof transformed>[0], body: unknown) => transformed(kind, body, { request: req });

describe('the other responses of an account', () => {
  it('become orders; one with an average price of infinitely many digits has no price', () => {
    const output = rows('account.orders', {
      i: [
        { i: 'o1', si: 'SELL', t: 'MARKET', p: 0.123456789012345, oq: 3, q: 1.5, st: 'FAILED', m: '1770091506789' },
        { i: 'o2', oq: 1e-13 },
      ],
    });
    expect(output.rowsOf(orderRecords).map(({ record }) => record)).toMatchObject([
      { orderId: 'o1', price: null, originalQuantity: '3', filledQuantity: '1.5', placedAtMicros: 1770091506789000 },
    ]);
    expect(output.deadLetters.map(({ jsonPath: where }) => where)).toEqual(['order o1 p', 'order o2 oq']);
  });

  it('become positions with the TP/SL orders attached to them', () => {
    const output = rows('account.positions', {
      i: [{ ai: 'a1', tsc: 10.5, c: 5.25, sp: 1 / 3, v: 0.30000000000000004, tpsl: [{ i: 't1', q: 2, tpp: 0.9 }] }],
    });
    expect(output.rowsOf(positionObservations).map(({ record }) => record)).toMatchObject([
      { assetId: 'a1', totalShares: '10.5', cost: '5.25', entryPrice: '0.3333333333333333', currentValue: null },
    ]);
    expect(output.rowsOf(tpslOrderObservations).map(({ record }) => record)).toMatchObject([
      { tpslId: 't1', asset: 'a1', source: 'position', quantity: '2', takeProfitPrice: '0.9', stopLossPrice: null },
    ]);
    expect(output.deadLetters.map(({ jsonPath: where }) => where)).toEqual(['position a1 v']);
  });

  it('become active orders, balances and transactions', () => {
    const active = rows('account.active-orders', { i: [{ id: 'o1', status: 'ACTIVE', price: 0.4, quantity: 7 }] });
    expect(active.rowsOf(activeOrderObservations)).toMatchObject([
      { answer, record: { orderId: 'o1', quantity: '7' } },
    ]);
    const balances = rows('account.balances', [
      { i: 'usdc', b: 1000.000001, f: 999.5 },
      { i: 'a1', b: '3' },
    ]);
    expect(balances.rowsOf(balanceObservations).map(({ record }) => record)).toMatchObject([
      { assetId: 'usdc', balance: '1000.000001', free: '999.5' },
      { assetId: 'a1', balance: '3', free: null },
    ]);
    const transactions = rows('account.transactions', {
      i: [{ i: 'x1', t: 'PAYOUT', a: 'a1', am: 0, cat: '2026-01-02' }],
    });
    expect(transactions.rowsOf(transactionRecords).map(({ record }) => record)).toMatchObject([
      { transactionId: 'x1', transactionType: 'PAYOUT', amount: '0', createdAtMicros: Date.UTC(2026, 0, 2) * 1000 },
    ]);
  });

  it('become TP/SL orders of the requested asset and status', () => {
    const asked = { ...req, asset: 'a1', query: { assetId: 'a1', status: 'ACTIVE' } };
    const output = transformed('account.tpsl-orders', [{ i: 't1', q: 1, slp: 0.2 }], { request: asked });
    expect(output.rowsOf(tpslOrderObservations).map(({ record }) => record)).toMatchObject([
      { tpslId: 't1', asset: 'a1', statusAsked: 'ACTIVE', source: 'list', stopLossPrice: '0.2' },
    ]);
    expect(output.rowsOf(accountPages).map(({ record }) => record.asset)).toEqual(['a1']);
  });

  it('become statistics of users', () => {
    const profile = rows('account.profile-stats', {
      profile: { userId: 'u1', username: 'ann', joinedAt: '2026-01-01T00:00:00Z', me: true },
      cards: { positionValue: 1.5, volumeTraded: 20, marketsTraded: 2.5 },
    });
    expect(profile.rowsOf(profileObservations).map(({ record }) => record)).toMatchObject([
      { userId: 'u1', username: 'ann', positionValue: '1.5', marketsTraded: null },
    ]);
    expect(profile.deadLetters.map(({ jsonPath: where }) => where)).toEqual(['cards.marketsTraded']);
    const path = '/api/history/stats/profile/u%201/positions';
    const stats = transformed('account.position-stats', { tab: 'active', ti: 3 }, { request: { ...req, path } });
    expect(stats.rowsOf(positionStatsObservations).map(({ record }) => record)).toMatchObject([
      { userId: 'u 1', tab: 'active', totalItems: 3 },
    ]);
  });

  it('become no rows and are counted when they have an error status', () => {
    const output = transformed('account.orders', { status: 500 }, { request: { ...req, status: 500 } });
    expect([output.exchangeErrors, output.deadLetters, [...output.tables]]).toEqual([1, [], []]);
  });

  it('become no rows and are counted when they are incomplete', () => {
    for (const body of ['', '{"i":[{"i":"o1",', '[]', '{"i":[],"p":0,"s":20,"tp":0}']) {
      const output = transformed('account.orders', body, { request: { ...req, cut: 'broken-off' } });
      expect([output.exchangeErrors, output.deadLetters, [...output.tables]]).toEqual([1, [], []]);
    }
  });
});

const stream = { request: { stream: 'orders', connection: 'c1', account: 'main' } };

describe('a frame of a private stream', () => {
  it('becomes an order update', () => {
    const order = transformed(
      'account.order-frame',
      { t: 'ORDER_UPDATE', d: { i: 'o1', u: 'u1', s: 'FAILED' } },
      stream,
    );
    expect(order.rowsOf(orderUpdates)).toMatchObject([
      { receivedAt: AT, account: 'main', connection: 'c1', type: 'order', orderId: 'o1', status: 'FAILED' },
    ]);
    const text = '{"t":"TPSL_UPDATE","d":{"i":"t1","a":"a1","q":2.50,"tpp":0.90,"slp":null,"s":"TRIGGERED","new":1}}';
    const tpsl = transformed('account.order-frame', JSON.parse(text), stream, text);
    expect(tpsl.rowsOf(orderUpdates)).toMatchObject([
      { type: 'tpsl', orderId: 't1', assetId: 'a1', quantity: '2.5', takeProfitPrice: '0.9', status: 'TRIGGERED' },
    ]);
    expect(tpsl.extraFields).toBe(1);
  });

  it('becomes the balances that it lists or changes', () => {
    const list = transformed('account.balance-frame', { t: 'success', d: { l: [{ i: 'usdc', b: 5, f: 4 }] } }, stream);
    expect(list.rowsOf(balanceUpdates)).toMatchObject([{ source: 'list', assetId: 'usdc', balance: '5', free: '4' }]);
    const text = '{"u":"u1","a":"a1","aop":0.3333333333333333,"c":1.000001,"b":3.10,"f":0}';
    const update = transformed('account.balance-frame', JSON.parse(text), stream, text);
    expect(update.rowsOf(balanceUpdates)).toMatchObject([
      {
        source: 'update',
        assetId: 'a1',
        balance: '3.1',
        free: '0',
        cost: '1.000001',
        averageOpenPrice: '0.3333333333333333',
      },
    ]);
  });

  it('is a dead letter when its type is unknown, and no row when it is a heartbeat', () => {
    expect(transformed('account.order-frame', { t: 'NEWS', d: {} }, stream).deadLetters).toHaveLength(1);
    expect(transformed('account.order-frame', { t: 'error', d: { error: 'no' } }, stream).exchangeErrors).toBe(1);
    const ping = transformed('account.order-frame', { t: 'PING', d: null, r: null }, stream);
    expect([ping.deadLetters, [...ping.tables]]).toEqual([[], []]);
  });
});

describe('a frame of a feed without documented messages', () => {
  it('becomes a row of raw_records only', () => {
    const output = transformed('reference.feed-frame', { anything: ['at', 'all'] });
    expect([output.deadLetters, [...output.tables]]).toEqual([[], []]);
  });
});

describe('a record of an account', () => {
  const kinds = Object.keys(RECORD_KINDS).filter((kind) => kind.startsWith('account.')) as RecordKind[];

  it('never makes a transform throw, for any JSON', () => {
    const fields = fc.constantFrom('i', 'ai', 'id', 'tra', 'q', 'p', 'tsc', 'am', 'b', 'a', 't', 'd', 'l', 'profile');
    const entry = fc.dictionary(fields, fc.oneof(fc.jsonValue(), fc.constantFrom('x', 1, 0.1, 1e300)));
    const body = fc.oneof(fc.jsonValue(), entry, fc.array(entry), fc.record({ i: fc.array(entry) }));
    fc.assert(
      fc.property(fc.constantFrom(...kinds), body, (kind, value) => {
        const output = transformed(kind, value, { request: req });
        for (const [table, made] of output.tables) {
          const block = table.newBlock({ topic: 't', log: 'l', partition: 0 });
          for (const [index, row] of made.entries()) block.append(0, index, row as never);
          expect(block.finish()?.rows).toBe(made.length);
        }
      }),
      { numRuns: 2000, seed: 5 },
    );
  });

  it('is a dead letter when it is nested too deep to be read', () => {
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const kind of kinds) {
      expect(transformed(kind, JSON.parse(text), { request: req }, text).deadLetters[0]?.jsonPath).toBe('body');
    }
  });
});
