import { writeFileSync } from 'node:fs';
import { AccountClient, ApiKey, ExchangeClient, LoginSession, type Market } from '../../client/index.js';
import { type OrderTarget, TradingClient } from '../../client/trading/index.js';
import { type Random, Secret } from '../../core/index.js';
import type { ReadyLine } from '../../exchange/index.js';
import { until } from '../support/until.js';

/** An account that trades and is recorded. */
export interface Trader {
  /** Configured name. */
  readonly name: string;
  readonly userId: string;
  readonly account: AccountClient;
  readonly trading: TradingClient;
}

/** The two assets of a market. */
export interface TradedMarket {
  readonly eventId: string;
  readonly marketId: string;
  readonly yes: OrderTarget;
  readonly no: OrderTarget;
}

const NAMES = ['ann', 'bob', 'cho'];

/** The accounts of the ready line with names, on one client; `close` closes it. */
export function tradersOf(ready: ReadyLine): { traders: Trader[]; exchange: ExchangeClient } {
  const exchange = new ExchangeClient({ addresses: { base: ready.url }, requestsPerSecond: 500, concurrency: 8 });
  const traders = ready.accounts.map((seeded, n) => {
    const apiKey = new ApiKey(seeded.apiKey, new Secret(seeded.apiSecret));
    const jwt = new LoginSession(exchange, { email: seeded.email, password: new Secret(seeded.password) });
    return {
      name: NAMES[n] ?? `account-${n}`,
      userId: seeded.userId,
      account: new AccountClient(exchange, { apiKey, jwt }),
      trading: new TradingClient(exchange, { apiKey }),
    };
  });
  return { traders, exchange };
}

/**
 * Writes the accounts' credentials where only the owner may read them, as --accounts-file wants them.
 * @param again another name for the last account, recorded without the login that transactions require
 */
export function writeAccounts(path: string, ready: ReadyLine, again?: string): void {
  const accounts: Record<string, object> = {};
  for (const [n, { apiKey, apiSecret, email, password }] of ready.accounts.entries()) {
    accounts[NAMES[n] ?? `account-${n}`] = { apiKey, apiSecret, email, password };
  }
  const last = ready.accounts.at(-1);
  if (again !== undefined && last) accounts[again] = { apiKey: last.apiKey, apiSecret: last.apiSecret };
  writeFileSync(path, JSON.stringify(accounts), { mode: 0o600 });
}

/** Every market in event search. */
export async function tradedMarketsOf(exchange: ExchangeClient): Promise<TradedMarket[]> {
  const usdc = await usdcOf(exchange);
  const { items } = await exchange.searchEvents({ size: 100 });
  return items.flatMap(({ eventId, markets }) => markets.map((market) => answerRefOf(eventId, market, usdc)));
}

/** The market nearest to a chance of 0.5 of the event that closes last: orders at the edge of its book stay unfilled. */
async function evenMarket(exchange: ExchangeClient): Promise<TradedMarket> {
  const { items } = await exchange.searchEvents({ size: 100 });
  const [last] = [...items].sort((a, b) => Date.parse(b.closesAt ?? '') - Date.parse(a.closesAt ?? ''));
  const unevenness = ({ yesPrice }: Market) => Math.abs(Number(yesPrice) - 0.5);
  const [market] = [...(last?.markets ?? [])].sort((a, b) => unevenness(a) - unevenness(b));
  if (!last || !market) throw new Error('there is no market');
  return answerRefOf(last.eventId, market, await usdcOf(exchange));
}

const usdcOf = async (exchange: ExchangeClient) =>
  (await exchange.coins()).items.find(({ ticker }) => ticker === 'USDC')?.coinId ?? '';

function answerRefOf(eventId: string, { marketId, yesAssetId, noAssetId }: Market, usdc: string): TradedMarket {
  const target = { eventId, marketId, quoteAssetId: usdc };
  return {
    eventId,
    marketId,
    yes: { ...target, assetId: yesAssetId ?? '' },
    no: { ...target, assetId: noAssetId ?? '' },
  };
}

/** A random order or cancellation; rejections and faults are ignored. */
export async function act(trader: Trader, markets: readonly TradedMarket[], random: Random): Promise<void> {
  const position = markets[random.integer(0, markets.length - 1)];
  if (!position) return;
  const outcome = random.integer(0, 1) === 0 ? 'YES' : 'NO';
  const target = outcome === 'YES' ? position.yes : position.no;
  const { trading, account } = trader;
  const quantity = `${1 + random.integer(0, 39)}.${random.integer(0, 9)}${random.integer(0, 9)}`;
  const price = `0.${String(30 + random.integer(0, 40)).padStart(2, '0')}`;
  switch (random.integer(0, 9)) {
    case 0:
      await trading.placeMarketOrder({ ...target, side: 'BUY', amount: `${1 + random.integer(0, 19)}.5` });
      return;
    case 1:
      await trading.placeMarketOrder({ ...target, side: 'SELL', quantity });
      return;
    case 2: {
      const { items } = await account.activeOrders();
      const order = items[random.integer(0, Math.max(0, items.length - 1))];
      if (order) await trading.cancelOrder(order.orderId);
      return;
    }
    case 3:
      await trading.placeTpsl({ ...target, outcome, quantity: '0.5', takeProfitPrice: '0.65', stopLossPrice: '0.35' });
      return;
    case 4:
    case 5:
      await trading.placeLimitOrder({ ...target, side: 'SELL', price, quantity });
      return;
    default:
      await trading.placeLimitOrder({ ...target, side: 'BUY', price, quantity });
  }
}

/** Cancels all orders of an account, so that its holdings cannot change. */
export async function withdrawAll({ account, trading }: Trader): Promise<void> {
  const { items: positions } = await account.openPositions({ size: 100 });
  for (const order of positions.flatMap(({ tpslOrders }) => tpslOrders)) {
    await trading.cancelTpsl(order.tpslId).catch(() => undefined);
  }
  for await (const { items } of account.walkActiveOrders()) {
    for (const { orderId } of items) await trading.cancelOrder(orderId).catch(() => undefined);
  }
}

/** Every account but the last buys YES of a market near 0.5, and has an order in the book and a TP/SL order. */
export async function openBooks(traders: readonly Trader[], exchange: ExchangeClient): Promise<void> {
  const position = await evenMarket(exchange);
  const other = traders.at(-1);
  if (!other) throw new Error('there is no account');
  for (const { trading, account } of traders.slice(0, -1)) {
    // Other orders in the book may match first; eventually this one is filled.
    await other.trading.placeLimitOrder({ ...position.no, side: 'BUY', price: '0.60', quantity: '5' });
    await trading.placeLimitOrder({ ...position.yes, side: 'BUY', price: '0.99', quantity: '5' });
    await until(async () => (await account.openPositions()).items.length > 0);
    await trading.placeLimitOrder({ ...position.yes, side: 'BUY', price: '0.01', quantity: '3' });
    await trading.placeTpsl({ ...position.yes, outcome: 'YES', quantity: '0.01', stopLossPrice: '0.01' });
  }
}
