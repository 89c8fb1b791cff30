import { describe, expect } from 'vitest';
import {
  AccountClient,
  ApiKey,
  type AuthFailedEvent,
  BalanceStream,
  type BalanceStreamMessage,
  type ConnectedEvent,
  ForbiddenError,
  HttpStatusError,
  type OrderStreamMessage,
  OrderUpdateStream,
  OutcomeUnknownError,
  type TradeRecord,
  UnauthorizedError,
} from '../../client/index.js';
import { ApiKeyAdmin } from '../../client/trading/index.js';
import { toDecimal } from '../../client/wire/index.js';
import { Secret } from '../../core/index.js';
import { startAccountMarket, traderOf } from '../support/account-market.js';
import { atEnd, concurrentIt as it } from '../support/at-end.js';
import { ShiftedClock } from '../support/clocks.js';
import { recorder } from './support.js';
import { failure } from './support-account.js';

/** How many trades happen after each page. */
const BURSTS = [0, 1, 4, 2, 0, 7];

const decimal = (value: unknown) => toDecimal(String(value));

async function all<T>(
  pages: AsyncIterable<{ readonly items: readonly T[]; readonly invalidEntries: readonly unknown[] }>,
): Promise<T[]> {
  const items: T[] = [];
  for await (const page of pages) {
    items.push(...page.items);
    expect(page.invalidEntries).toEqual([]);
  }
  return items;
}

describe.concurrent('an account at the simulated exchange', () => {
  it.each(['', 'numbers-as-strings', 'extra-fields', 'place-status=202,delete-status=200'])(
    'trades, and reads exactly the records of the ledger (%s)',
    async (quirks) => {
      const { exchange, ann, bob, yes, usdc, fill, fills } = await startAccountMarket({ quirks });
      const { orderId } = await fill('33.33');
      const resting = await ann.trading.placeLimitOrder({ ...yes, side: 'BUY', price: '0.01', quantity: '7' });
      const tpsl = await ann.trading.placeTpsl({
        ...yes,
        outcome: 'YES',
        quantity: '5',
        takeProfitPrice: '0.99',
        stopLossPrice: '0.02',
      });
      const own = exchange.core.truth().accounts.find(({ userId }) => userId === ann.userId);
      const [trade] = fills();
      if (!own || !trade) throw new Error('there is no trade in the ledger');

      const [record] = await all(ann.account.walkTrades());
      expect(record).toMatchObject({
        tradeId: trade.tradeId,
        userId: ann.userId,
        orderId,
        side: 'BUY',
        eventId: yes.eventId,
        marketId: yes.marketId,
        assetId: yes.assetId,
        quantity: '33.33',
        price: '0.4',
        fee: decimal(trade.takerFee),
      });
      expect(Math.abs((record?.executedAtMicros ?? 0) / 1000 - Date.now())).toBeLessThan(60_000);
      const [counterpart] = await all(bob.account.walkTrades({ marketId: yes.marketId }));
      expect(counterpart).toMatchObject({ tradeId: trade.tradeId, quantity: '33.33', price: '0.6', fee: '0' });
      expect(counterpart?.tradeRecordId).not.toBe(record?.tradeRecordId);

      const balances = (await ann.account.balances()).items;
      expect(balances.find(({ assetId }) => assetId === usdc)).toMatchObject({ balance: decimal(own.usdc) });
      expect(balances.find(({ assetId }) => assetId === yes.assetId)).toMatchObject({ balance: '33.33' });
      const full = (await ann.account.fullBalances()).items;
      expect(full.find(({ assetId }) => assetId === usdc)).toMatchObject({ ticker: 'USDC', value: decimal(own.usdc) });

      const [position] = await all(ann.account.walkOpenPositions());
      expect(position).toMatchObject({
        assetId: yes.assetId,
        totalShares: '33.33',
        cost: decimal(own.positions[0]?.cost),
        primary: true,
      });
      expect(position?.tpslOrders).toMatchObject([
        { tpslId: tpsl.tpslId, quantity: '5', takeProfitPrice: '0.99', stopLossPrice: '0.02' },
      ]);
      expect(await all(ann.account.walkActiveOrders())).toEqual([
        { orderId: resting.orderId, status: 'ACTIVE', side: 'BUY', price: '0.01', quantity: '7' },
      ]);
      expect(
        (await ann.account.tpslOrders({ assetId: yes.assetId, primary: true, status: 'ACTIVE' })).items,
      ).toMatchObject([{ tpslId: tpsl.tpslId }]);
      expect(await all(ann.account.walkOrders())).toMatchObject([
        { orderId: resting.orderId, status: 'ACTIVE', filledQuantity: '0' },
        { orderId, status: 'FILLED', originalQuantity: '33.33', filledQuantity: '33.33', orderType: 'LIMIT' },
      ]);
      expect((await all(ann.account.walkOrders({ sort: 'asc' }))).map((order) => order.orderId)).toEqual([
        orderId,
        resting.orderId,
      ]);
      expect(await all(bob.account.walkActivity())).toMatchObject([
        { userId: ann.userId, quantity: '33.33', price: '0.4', side: 'BUY', marketId: yes.marketId },
      ]);
      expect((await ann.account.profileStats({ userId: ann.userId })).value).toMatchObject({
        userId: ann.userId,
        me: true,
        marketsTraded: 1,
      });
      expect((await ann.account.profileStats({ userId: bob.userId })).value).toMatchObject({
        userId: bob.userId,
        me: false,
      });
      expect((await ann.account.positionStats({ userId: ann.userId })).value).toMatchObject({ totalItems: 1 });
      const transactions = await all(ann.account.walkTransactions());
      expect(transactions).toMatchObject([{ transactionType: 'DEPOSIT', status: 'COMPLETED', assetId: usdc }]);
      expect((await ann.account.depositAddress())?.value).toMatchObject({ assetId: usdc });

      await ann.trading.cancelOrder(resting.orderId);
      expect(await failure(ann.trading.cancelOrder(resting.orderId))).toMatchObject({ status: 404 });
      if (tpsl.tpslId === null) throw new Error('the TP/SL order has no ID');
      await ann.trading.cancelTpsl(tpsl.tpslId);
      await ann.trading.placeMarketOrder({ ...yes, side: 'SELL', quantity: '1' });
      expect(exchange.core.truth().identity.balanced).toBe(true);
    },
  );

  it('names every field that the exchange sends, so that none is overlooked [2/open-position 2/active-order 2/order 2/trade 2/transaction 2/activity 2/stats 2/position-stats]', async () => {
    const { ann, yes, fill } = await startAccountMarket();
    await fill('10');
    await ann.trading.placeTpsl({ ...yes, outcome: 'YES', quantity: '5', stopLossPrice: '0.02' });
    const { account } = ann;
    const user = { userId: ann.userId };
    const answers = [
      await account.balances(),
      await account.fullBalances(),
      await account.openPositions(),
      await account.activeOrders(),
      await account.orders(),
      await account.trades(),
      await account.activity(),
      await account.transactions(),
      await account.tpslOrders({ assetId: yes.assetId }),
      await account.profileStats(user),
      await account.positionStats(user),
    ];
    expect(answers.map(({ extraFields }) => extraFields)).toEqual(answers.map(() => []));
  });

  it.each(['', 'trades-wrapper=array', 'trades-wrapper=i', 'trades-wrapper=content'])(
    'walks its trades while new ones happen, missing none and duplicating none (%s)',
    async (wrapper) => {
      const { ann, fill, fills } = await startAccountMarket({
        quirks: ['max-page-size=3', wrapper].filter((quirk) => quirk !== '').join(','),
      });
      for (let n = 0; n < 12; n++) await fill('1');
      let atLastFront = 0;
      const made: Promise<unknown>[] = [];
      const walk = ann.account.walkTrades(
        {},
        {
          // After every page some more trades before the next one is requested: fewer or more than a page.
          onResponse: ({ request }) => {
            if (request.page === 0) atLastFront = 12 + made.length;
          },
        },
      );
      const got: TradeRecord[] = [];
      let pages = 0;
      for await (const page of walk) {
        got.push(...page.items);
        pages += 1;
        for (let n = 0; n < (BURSTS[pages % BURSTS.length] ?? 0) && made.length < 40; n++) {
          const filled = fill('1');
          made.push(filled);
          await filled;
        }
      }
      const ledger = fills();
      const ids = got.map(({ tradeId }) => tradeId);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ledger.slice(0, atLastFront).filter(({ tradeId }) => !ids.includes(tradeId))).toEqual([]);
      expect(walk.report).toMatchObject({ complete: true, shifted: true, invalid: 0, distinctItems: got.length });
      expect(atLastFront).toBeGreaterThan(12);
    },
  );

  it('gets its own events from the private streams, and no others [6.6/orders 6.6/balances]', async () => {
    const { exchange, ann, bob, yes, usdc, fill, fault } = await startAccountMarket();
    const addresses = { base: exchange.url };
    const orders = recorder<OrderStreamMessage>();
    const balances = recorder<BalanceStreamMessage>();
    const others = recorder<OrderStreamMessage>();
    const quick = { reconnectBaseMs: 1, reconnectCapMs: 50 };
    const connected = recorder<ConnectedEvent>();
    const orderStream = new OrderUpdateStream({
      addresses,
      ...quick,
      apiKey: ann.apiKey,
      onMessage: orders,
      onConnected: connected,
    });
    const balanceStream = new BalanceStream({ addresses, ...quick, apiKey: ann.apiKey, onMessage: balances });
    const otherStream = new OrderUpdateStream({ addresses, ...quick, apiKey: bob.apiKey, onMessage: others });
    for (const stream of [orderStream, balanceStream, otherStream]) {
      atEnd(() => stream.close());
      stream.start();
    }
    expect(await orders.next()).toEqual({ type: 'authorized' });
    expect(await others.next()).toEqual({ type: 'authorized' });
    expect(await balances.next()).toMatchObject({ type: 'balances', balances: [{ assetId: usdc }] });
    const { orderId } = await fill('10');
    expect(await orders.next()).toEqual({ type: 'order-update', orderId, userId: ann.userId, status: 'SUCCESS' });
    expect(await others.next()).toMatchObject({ type: 'order-update', userId: bob.userId });
    let shares = await balances.next();
    while (shares.type !== 'balance-update' || shares.assetId !== yes.assetId) shares = await balances.next();
    expect(shares).toMatchObject({ userId: ann.userId, balance: '10', free: '10', averageOpenPrice: '0.4', cost: '4' });
    const { tpslId } = await ann.trading.placeTpsl({ ...yes, outcome: 'YES', quantity: '5', takeProfitPrice: '0.9' });
    expect(await orders.next()).toMatchObject({
      type: 'tpsl-update',
      tpslId,
      assetId: yes.assetId,
      quantity: '5',
      status: 'ACTIVE',
    });
    const first = (await connected.next()).connectionId;
    await fault('drop-connection', { stream: 'orders' });
    const missed = await ann.trading.placeLimitOrder({ ...yes, side: 'BUY', price: '0.01', quantity: '1' });
    expect((await connected.next()).connectionId).not.toBe(first);
    let message = await orders.next();
    while (message.type !== 'authorized') message = await orders.next();
    const again = await ann.trading.placeLimitOrder({ ...yes, side: 'BUY', price: '0.01', quantity: '1' });
    message = await orders.next();
    // The new connection may have been there in time for the order before.
    if (message.type === 'order-update' && message.orderId === missed.orderId) message = await orders.next();
    expect(message).toMatchObject({ type: 'order-update', orderId: again.orderId });
  });

  it('does not notice that its own clock is wrong [5.1/rule-5]', async () => {
    const { exchange } = await startAccountMarket();
    const [seeded] = exchange.ready.accounts;
    if (!seeded) throw new Error('there are no accounts');
    const clock = new ShiftedClock(-100);
    const { account, client, apiKey } = traderOf(exchange, seeded, { clock });
    const shown: number[] = [];
    await account.balances({ onResponse: ({ status }) => shown.push(status) });
    await account.balances({ onResponse: ({ status }) => shown.push(status) });
    expect(shown).toEqual([401, 200, 200]);
    const messages = recorder<BalanceStreamMessage>();
    const { serverTime } = client.requester;
    const stream = new BalanceStream({
      addresses: { base: exchange.url },
      clock,
      apiKey,
      serverTime,
      onMessage: messages,
    });
    atEnd(() => stream.close());
    stream.start();
    expect((await messages.next()).type).toBe('balances');
  });

  it('creates, uses and revokes API keys; each revokes the previous one, also on an open stream [2/api-key 5.4/code 5.4/once]', async () => {
    const { exchange, ann, usdc } = await startAccountMarket();
    const admin = new ApiKeyAdmin(ann.client, { jwt: ann.jwt });
    const failed = recorder<AuthFailedEvent>();
    const messages = recorder<BalanceStreamMessage>();
    const stream = new BalanceStream({
      addresses: { base: exchange.url },
      apiKey: ann.apiKey,
      onMessage: messages,
      onAuthFailed: failed,
      reconnectBaseMs: 1,
    });
    atEnd(() => stream.close());
    stream.start();
    expect((await messages.next()).type).toBe('balances');
    await admin.sendCode();
    const { body } = await exchange.control('GET', `/mailbox?email=${encodeURIComponent(ann.email)}`);
    const { code } = body as { code: string };
    const created = await admin.createApiKey({ code: new Secret(code), expiresAt: '2099-01-01T00:00:00Z' });
    expect(created).toMatchObject({ expiresAtMicros: Date.parse('2099-01-01') * 1000 });
    expect((await failed.next()).error.message).toContain('AUTH on the balance stream');
    expect(await failure(ann.account.balances())).toBeInstanceOf(UnauthorizedError);
    expect(await failure(admin.createApiKey({ code: new Secret(code) }))).toMatchObject({ status: 400 });
    const renewed = new AccountClient(ann.client, { apiKey: new ApiKey(created.key, created.secret), jwt: ann.jwt });
    expect((await renewed.balances()).items).toMatchObject([{ assetId: usdc }]);
    expect(await renewed.apiKeyInfo()).toMatchObject({
      keyId: created.keyId,
      key: created.key,
      expiresAtMicros: created.expiresAtMicros,
    });
    await admin.deleteApiKey();
    expect(await renewed.apiKeyInfo()).toBeNull();
    expect(await failure(renewed.balances())).toBeInstanceOf(UnauthorizedError);
  });

  it('distinguishes a blocked key from a wrong one [7.2/403]', async () => {
    const { exchange, ann, bob } = await startAccountMarket();
    await exchange.control('POST', `/accounts/${ann.userId}/block`);
    expect(await failure(ann.account.balances())).toBeInstanceOf(ForbiddenError);
    const wrong = new ApiKey(bob.apiKey.key, ann.apiKey.secret);
    expect(await failure(new AccountClient(bob.client, { apiKey: wrong }).balances())).toBeInstanceOf(
      UnauthorizedError,
    );
  });

  it('gets through faults when it reads, and never places an order twice', async () => {
    const { ann, yes, fault } = await startAccountMarket();
    for (const kind of ['http-429', 'http-500', 'http-reset', 'truncated-body']) {
      await fault(kind, { stream: 'rest' });
      expect((await ann.account.balances()).items.length).toBe(1);
    }
    const order = { ...yes, side: 'BUY', price: '0.01', quantity: '1' } as const;
    const before = (await ann.account.activeOrders()).items.length;
    for (const [kind, type] of [
      ['http-429', HttpStatusError],
      ['http-500', OutcomeUnknownError],
      ['http-reset', OutcomeUnknownError],
      ['truncated-body', OutcomeUnknownError],
    ] as const) {
      const placedBefore = (await ann.account.activeOrders()).items.length;
      await fault(kind, { stream: 'rest' });
      expect(await failure(ann.trading.placeLimitOrder(order))).toBeInstanceOf(type);
      expect((await ann.account.activeOrders()).items.length - placedBefore).toBeLessThanOrEqual(1);
    }
    expect((await ann.account.activeOrders()).items.length - before).toBeLessThanOrEqual(4);
  });

  it('gets the reason of a rejected order in one line [7.2/400]', async () => {
    const { ann, yes } = await startAccountMarket();
    const order = { ...yes, side: 'BUY', price: '0.5', quantity: '1' } as const;
    const refusals: [() => Promise<unknown>, number][] = [
      [() => ann.trading.placeLimitOrder({ ...order, price: '0.505' }), 400],
      [() => ann.trading.placeLimitOrder({ ...order, quantity: '1e12' }), 400],
      [() => ann.trading.placeLimitOrder({ ...order, assetId: 'nobody' }), 400],
      [() => ann.trading.placeMarketOrder({ ...yes, side: 'SELL', quantity: '1' }), 400],
      [() => ann.trading.cancelOrder('nobody'), 404],
    ];
    for (const [refused, status] of refusals)
      expect(await failure(refused())).toMatchObject({ status, error: { status } });
  });
});
