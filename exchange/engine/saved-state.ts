import { type Blocks, type SavedSeries, Series } from '../store/index.js';
import { assetOf } from './assets.js';
import {
  Account,
  type Extent,
  type Histories,
  LiveOrder,
  Market,
  MarketEvent,
  type Position,
  type Tpsl,
} from './entities.js';
import { WIDTH } from './records.js';
import { State } from './state.js';
import type { Credentials, OrderType, Outcome, Side } from './types.js';

/*
 * Converts the state to a plain value and back. Derived data (IDs, maps by ID, best prices of books) is left out. Every
 * order of elements is preserved, so that a restored state behaves exactly like the original.
 */

export const STATE_FORMAT = 1;

type SavedHistories = { readonly [K in keyof Histories]: SavedSeries };

interface SavedAccount {
  readonly userId: string;
  readonly email: string;
  readonly username: string;
  readonly joinedAt: number;
  readonly credentials: Credentials;
  readonly money: readonly [free: number, locked: number, realisedPnl: number, feesPaid: number, volume: number];
  readonly closed: readonly [positions: number, lastAt: number | null];
  readonly positions: readonly Position[];
  readonly ordersByMarket: Float64Array;
  readonly tradesByMarket: Float64Array;
  readonly histories: SavedHistories;
}

interface SavedOrder {
  readonly number: number;
  readonly account: number;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly type: OrderType;
  readonly price: number;
  readonly quantity: number;
  readonly placedAt: number;
  readonly historyIndex: number;
  readonly progress: readonly [remaining: number, filled: number, filledMicros: number, lockedMicros: number];
}

type SavedTpsl = Omit<Tpsl, 'account' | 'market'> & { readonly account: number };

interface SavedMarket {
  readonly name: string;
  readonly openedAt: number;
  readonly openingChance: number;
  readonly lastPrice: number | undefined;
  readonly resolved: Market['resolved'];
  readonly totals: readonly [trades: number, yesShares: number, noShares: number, liquidity: number, volume: number];
  readonly volumeBuckets: [number, number][];
  readonly published: Market['published'];
  readonly chances: SavedSeries;
  readonly orders: readonly SavedOrder[];
  readonly tpsl: readonly SavedTpsl[];
}

interface SavedEvent {
  readonly title: string;
  readonly slug: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly featured: boolean;
  readonly createdAt: number;
  readonly closesAt: number;
  readonly markets: readonly SavedMarket[];
}

export interface SavedState {
  readonly format: number;
  readonly seed: number;
  readonly takerFeeBps: number;
  readonly counters: readonly [order: number, tpsl: number, transaction: number, at: number];
  readonly money: readonly [deposits: number, withdrawals: number, fees: number];
  readonly seeded: State['seeded'];
  readonly accounts: readonly SavedAccount[];
  readonly events: readonly SavedEvent[];
  readonly fills: SavedSeries;
  readonly prices: SavedSeries;
}

export function saveState(state: State): SavedState {
  return {
    format: STATE_FORMAT,
    seed: state.seed,
    takerFeeBps: state.takerFeeBps,
    counters: [state.lastOrder, state.lastTpsl, state.lastTransaction, state.lastAt],
    money: [state.deposits, state.withdrawals, state.fees],
    seeded: { account: [...state.seeded.account], bot: [...state.seeded.bot] },
    accounts: state.accounts.map(saveAccount),
    events: state.events.map(saveEvent),
    fills: state.fills.save(),
    prices: state.prices.save(),
  };
}

function saveAccount(account: Account): SavedAccount {
  const { histories } = account;
  return {
    userId: account.userId,
    email: account.email,
    username: account.username,
    joinedAt: account.joinedAt,
    credentials: account.credentials,
    money: [account.free, account.locked, account.realisedPnl, account.feesPaid, account.volume],
    closed: [account.closedPositions, account.lastClosedAt],
    positions: [...account.positions.values()],
    ordersByMarket: saveExtents(account.ordersByMarket),
    tradesByMarket: saveExtents(account.tradesByMarket),
    histories: {
      orders: histories.orders.save(),
      trades: histories.trades.save(),
      transactions: histories.transactions.save(),
      tpsl: histories.tpsl.save(),
    },
  };
}

function saveExtents(extents: Map<number, Extent>): Float64Array {
  return Float64Array.from([...extents].flatMap(([market, { first, last, count }]) => [market, first, last, count]));
}

function saveEvent(event: MarketEvent): SavedEvent {
  const { title, slug, category, tags, featured, createdAt, closesAt } = event;
  return { title, slug, category, tags, featured, createdAt, closesAt, markets: event.markets.map(saveMarket) };
}

function saveMarket(market: Market): SavedMarket {
  const { volume } = market;
  return {
    name: market.name,
    openedAt: market.openedAt,
    openingChance: market.openingChance,
    lastPrice: market.lastPrice,
    resolved: market.resolved,
    totals: [market.trades, market.yesShares, market.noShares, market.liquidity, volume.total],
    volumeBuckets: volume.buckets,
    published: market.published,
    chances: market.chances.save(),
    orders: [...market.book.orders()].map((order) => ({
      number: order.number,
      account: order.account.number,
      outcome: order.outcome,
      side: order.side,
      type: order.type,
      price: order.price,
      quantity: order.quantity,
      placedAt: order.placedAt,
      historyIndex: order.historyIndex,
      progress: [order.remaining, order.filled, order.filledMicros, order.lockedMicros],
    })),
    tpsl: [...market.tpsl.values()].map(({ account, market: _, ...rest }) => ({ ...rest, account: account.number })),
  };
}

export function restoreState(saved: SavedState, blocks: Blocks): State {
  const fills = Series.restore(blocks, WIDTH.fill, saved.fills);
  const prices = Series.restore(blocks, WIDTH.price, saved.prices);
  const state = new State(saved.seed, saved.takerFeeBps, blocks, fills, prices);
  [state.lastOrder, state.lastTpsl, state.lastTransaction, state.lastAt] = saved.counters;
  [state.deposits, state.withdrawals, state.fees] = saved.money;
  state.seeded.account.push(...saved.seeded.account);
  state.seeded.bot.push(...saved.seeded.bot);
  for (const account of saved.accounts) state.addAccount(restoreAccount(state, account));
  for (const event of saved.events) state.addEvent(restoreEvent(state, event));
  restoreOrders(state, saved);
  return state;
}

function restoreAccount(state: State, saved: SavedAccount): Account {
  const number = state.accounts.length;
  const { userId, email, username, joinedAt, credentials } = saved;
  const histories = {
    orders: Series.restore(state.blocks, WIDTH.order, saved.histories.orders),
    trades: Series.restore(state.blocks, WIDTH.trade, saved.histories.trades),
    transactions: Series.restore(state.blocks, WIDTH.transaction, saved.histories.transactions),
    tpsl: Series.restore(state.blocks, WIDTH.tpsl, saved.histories.tpsl),
  };
  const account = new Account(number, userId, email, username, joinedAt, credentials, histories);
  [account.free, account.locked, account.realisedPnl, account.feesPaid, account.volume] = saved.money;
  [account.closedPositions, account.lastClosedAt] = saved.closed;
  for (const position of saved.positions) account.positions.set(position.asset, { ...position });
  restoreExtents(account.ordersByMarket, saved.ordersByMarket);
  restoreExtents(account.tradesByMarket, saved.tradesByMarket);
  return account;
}

function restoreExtents(extents: Map<number, Extent>, words: Float64Array): void {
  for (let i = 0; i < words.length; i += 4) {
    const [market, first, last, count] = words.subarray(i, i + 4) as unknown as [number, number, number, number];
    extents.set(market, { first, last, count });
  }
}

function restoreEvent(state: State, saved: SavedEvent): MarketEvent {
  const number = state.events.length;
  const { title, slug, category, tags, featured, createdAt, closesAt } = saved;
  const eventId = state.ids.id('event', number);
  const event = new MarketEvent(number, eventId, title, slug, category, tags, featured, createdAt, closesAt);
  for (const market of saved.markets) {
    event.markets.push(restoreMarket(state, event, state.markets.length + event.markets.length, market));
  }
  return event;
}

function restoreMarket(state: State, event: MarketEvent, number: number, saved: SavedMarket): Market {
  const { ids, blocks } = state;
  const yes = ids.id('asset', assetOf(number, 'YES'));
  const no = ids.id('asset', assetOf(number, 'NO'));
  const chances = Series.restore(blocks, WIDTH.chance, saved.chances);
  const { name, openedAt, openingChance } = saved;
  const market = new Market(number, event, ids.id('market', number), yes, no, name, openedAt, openingChance, chances);
  market.lastPrice = saved.lastPrice;
  market.resolved = saved.resolved;
  [market.trades, market.yesShares, market.noShares, market.liquidity, market.volume.total] = saved.totals;
  market.volume.buckets = saved.volumeBuckets;
  market.published = saved.published;
  return market;
}

/** Orders are added to their books in book order, and to the maps by number in ascending order. */
function restoreOrders(state: State, saved: SavedState): void {
  const orders: LiveOrder[] = [];
  const tpsl: Tpsl[] = [];
  let next = 0;
  for (const event of saved.events) {
    for (const savedMarket of event.markets) {
      const market = state.marketAt(next++);
      for (const order of savedMarket.orders) orders.push(restoreOrder(state, market, order));
      for (const one of savedMarket.tpsl) tpsl.push({ ...one, account: state.accountAt(one.account), market });
    }
  }
  for (const order of orders.sort((a, b) => a.number - b.number)) {
    state.orders.set(order.number, order);
    order.account.orders.set(order.number, order);
  }
  for (const one of tpsl.sort((a, b) => a.number - b.number)) {
    state.tpsl.set(one.number, one);
    one.market.tpsl.set(one.number, one);
  }
}

function restoreOrder(state: State, market: Market, saved: SavedOrder): LiveOrder {
  const { number, outcome, side, type, price, quantity, placedAt, historyIndex } = saved;
  const account = state.accountAt(saved.account);
  const order = new LiveOrder(number, account, market, outcome, side, type, price, quantity, 0, placedAt, historyIndex);
  [order.remaining, order.filled, order.filledMicros, order.lockedMicros] = saved.progress;
  market.book.add(order);
  return order;
}
