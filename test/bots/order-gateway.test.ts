import { describe, expect, it, onTestFinished } from 'vitest';
import { MarketWatch } from '../../bots/market-watch.js';
import { OrderGateway } from '../../bots/order-gateway.js';
import { OwnAccount } from '../../bots/own-account.js';
import { AccountClient, ApiKey, ExchangeClient } from '../../client/index.js';
import { TradingClient } from '../../client/trading/index.js';
import { createLogger, Secret, systemClock } from '../../core/index.js';
import { startTestExchange, type TestExchange } from '../support/exchange.js';
import { until } from '../support/until.js';

/** A bot's gateway at an exchange without other traders; further ones have the same account. */
async function gatewayAt(server: TestExchange) {
  const [seeded] = server.core.seededAccounts();
  if (!seeded) throw new Error('no account');
  const addresses = { base: server.url };
  const exchange = new ExchangeClient({ addresses, requestsPerSecond: 1000, retryBaseMs: 5 });
  const apiKey = new ApiKey(seeded.apiKey, new Secret(seeded.apiSecret));
  const log = createLogger({ service: 'bots', level: 'error' });
  const stop = new AbortController();
  const own: OwnAccount = new OwnAccount({
    addresses,
    apiKey,
    serverTime: exchange.serverTime,
    quotes: { markets: [], of: (id) => quotes.of(id), ofAsset: (id) => quotes.ofAsset(id) },
    usdcId: () => quotes.usdcId,
  });
  const onClosed = (marketId: string) => own.orders.removeMarket(marketId);
  // It searches once: a later search would meet the faults that are armed for orders.
  const quotes = new MarketWatch({ exchange, addresses, clock: systemClock, pace: 0.01, onClosed, log });
  const gateway = new OrderGateway({
    trading: new TradingClient(exchange, { apiKey }),
    account: new AccountClient(exchange, { apiKey }),
    own,
    quotes,
    usdcId: () => quotes.usdcId,
    clock: systemClock,
    reconcileEveryMs: 600_000,
    signal: stop.signal,
  });
  await quotes.start(stop.signal);
  own.start(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await Promise.all([quotes.stop(), own.close(), exchange.close()]);
  });
  await until(() => gateway.ready && quotes.markets.length > 0);
  await gateway.reconcile();
  const [market] = quotes.markets;
  if (!market) throw new Error('no market');
  const active = () => server.core.activeOrders(seeded.userId).map(({ orderId }) => orderId);
  const known = () => gateway.orders.ofMarket(market.marketId).map(({ orderId }) => orderId);
  return { gateway, market, own, quotes, active, known, userId: seeded.userId };
}

const arm = (server: TestExchange, kind: string) =>
  server.control('POST', '/faults', { kind, stream: 'rest', count: 1 });

describe('a gateway', () => {
  it('adopts an order whose response was truncated, and none whose request was not received', async () => {
    const server = await startTestExchange({ events: 1 });
    const { gateway, market, active, known } = await gatewayAt(server);
    await arm(server, 'truncated-body');
    await expect(gateway.limit(market, 'YES', 'BUY', 20, 1000)).rejects.toThrow(/may or may not have taken effect/);
    expect(active()).toHaveLength(1);
    expect(known()).toEqual([]);
    await gateway.reconcile();
    expect(known()).toEqual(active());
    const [order] = gateway.orders.ofMarket(market.marketId);
    expect(order).toMatchObject({ side: 'BUY', outcome: 'YES', price: 20, remaining: 1000 });

    await arm(server, 'http-reset');
    await expect(gateway.limit(market, 'NO', 'BUY', 30, 500)).rejects.toThrow(/may or may not have taken effect/);
    await gateway.reconcile();
    expect(active()).toHaveLength(1);
    expect(known()).toEqual(active());
    if (order) await gateway.cancel(order);
    expect([active(), known()]).toEqual([[], []]);
  });

  it('finds the open orders of an earlier run, and cancels those of markets that it cannot find', async () => {
    const server = await startTestExchange({ events: 1 });
    const first = await gatewayAt(server);
    for (const price of [10, 20, 30]) await first.gateway.limit(first.market, 'YES', 'BUY', price, 700);
    await first.gateway.limit(first.market, 'NO', 'BUY', 40, 300);
    const second = await gatewayAt(server);
    expect(second.known().sort()).toEqual(first.active().sort());
    const third = await gatewayAt(server);
    third.quotes.ofAsset = () => undefined;
    third.own.outOfSync = true;
    for (const order of third.gateway.orders.ofMarket(third.market.marketId)) third.gateway.orders.remove(order);
    await third.gateway.reconcile();
    expect(first.active()).toEqual([]);
  });

  it('learns of fills from balance updates, and after a broken stream from the lists of the exchange', async () => {
    const server = await startTestExchange({ events: 1 });
    const { gateway, market, own, known, userId } = await gatewayAt(server);
    await gateway.limit(market, 'YES', 'BUY', 20, 1000);
    await gateway.limit(market, 'YES', 'BUY', 25, 400);
    const { eventId, marketId, noAssetId } = market;
    const opened = server.core.openAccount({ email: 'x@test.example', passwordHash: 'x', depositMicros: 1e9 });
    const taker = opened.ok ? opened.value.userId : '';
    const take = (quantity: number) => {
      const target = { userId: taker, eventId, marketId, assetId: noAssetId };
      expect(server.core.placeLimit({ ...target, side: 'BUY', price: 80, quantity })).toMatchObject({ ok: true });
    };
    take(600);
    await until(() => gateway.free(market, 'YES') === 600);
    expect(gateway.orders.ofMarket(marketId)).toMatchObject([{ price: 20, remaining: 800 }]);

    await server.control('POST', '/faults', { kind: 'drop-connection', stream: 'balance', count: 1 });
    await until(() => own.outOfSync);
    take(800);
    await until(() => own.ready && gateway.free(market, 'YES') === 1400);
    await gateway.reconcile();
    expect(known()).toEqual([]);
    expect(server.core.activeOrders(userId)).toEqual([]);
  });

  it('returns false for a rejection, and throws every other error', async () => {
    const server = await startTestExchange({ events: 1 });
    const { gateway, market, known } = await gatewayAt(server);
    expect(await gateway.limit(market, 'YES', 'SELL', 50, 100)).toBe(false);
    expect(await gateway.buy(market, 'YES', 1e6)).toBe(true);
    expect(await gateway.protect(market, 'YES', 100, 60, 40)).toBe(false);
    await arm(server, 'http-429');
    await expect(gateway.limit(market, 'YES', 'BUY', 20, 1000)).rejects.toThrow(/answered 429/);
    await gateway.reconcile();
    expect(known()).toEqual([]);
  });
});
