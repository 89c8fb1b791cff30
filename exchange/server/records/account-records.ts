import type {
  ActivityWire,
  BalanceUpdateWire,
  BalanceWire,
  DepositAddressWire,
  PositionStatsWire,
  ProfileStatsWire,
  TransactionWire,
} from '../../../client/wire/index.js';
import { sha256Hex } from '../../../core/index.js';
import {
  type AccountView,
  averagePrice,
  type BalanceChange,
  type Coin,
  type ProfileView,
  type TradeView,
  type TransactionView,
} from '../../engine/index.js';
import { type MarketLookup, valueMicros } from './market-lookup.js';
import { eventIcon, iso, isoOrNull, NO_TEXT, price, shares, usdc } from './wire-values.js';

/* Records of wallets, activity and statistics, part 2. */

const CHAIN = { name: 'Polygon', explorer: 'https://explorer.exchange.example/tx' };

/** Balances of an account: USDC first, then its outcome assets, oldest first. */
export function balances({ usdcMicros, lockedMicros, positions }: AccountView, usdcId: string): readonly BalanceWire[] {
  const money = { i: usdcId, b: usdc(usdcMicros), f: usdc(usdcMicros - lockedMicros) };
  const held = positions.map((position) => ({
    i: position.assetId,
    b: shares(position.shares),
    f: shares(position.freeShares),
  }));
  return [money, ...held];
}

/** The same with name, ticker and value in USDC. */
export function fullBalances(account: AccountView, coin: Coin, lookup: MarketLookup): readonly BalanceWire[] {
  return balances(account, coin.coinId).map((balance, n) => {
    const position = account.positions[n - 1];
    if (!position) return { ...balance, n: coin.name, sn: coin.ticker, v: balance.b };
    const { event, market } = lookup.of(position);
    const value = valueMicros(market, position.outcome, position.shares);
    return { ...balance, n: `${event.title}: ${market.name}`, sn: position.outcome, v: usdc(value) };
  });
}

/** A message of the balance stream, part 6.4. USDC has no open price and no cost: both are 0. */
export function balanceUpdate(change: BalanceChange, usdcId: string): BalanceUpdateWire {
  const { userId, assetId, balance, free, costMicros } = change;
  const isUsdc = assetId === usdcId;
  const amount = isUsdc ? usdc : shares;
  return {
    u: userId,
    a: assetId,
    aop: isUsdc ? 0 : usdc(averagePrice(costMicros, balance)),
    c: usdc(costMicros),
    b: amount(balance),
    f: amount(free),
  };
}

/** The deposit address of an account: invented, derived from its ID. */
export function depositAddress(userId: string, usdcId: string): DepositAddressWire {
  return { i: usdcId, a: madeUpAddress('deposit', userId) };
}

/** Deposits and withdrawals have invented blockchain transactions; payouts have the market that paid. */
export function transactionRecord(transaction: TransactionView, lookup: MarketLookup): TransactionWire {
  const { transactionId, userId, assetId, type, amountMicros, status, at } = transaction;
  const listing = lookup.ofAsset(assetId);
  const external = listing ? NO_TEXT : `0x${digest('transaction', transactionId)}`;
  return {
    i: transactionId,
    u: userId,
    a: assetId,
    eq: listing?.event.title ?? NO_TEXT,
    ei: listing ? eventIcon(listing.event.slug) : NO_TEXT,
    es: listing?.event.slug ?? NO_TEXT,
    on: listing?.market.name ?? NO_TEXT,
    tn: listing?.outcome ?? NO_TEXT,
    ip: listing?.outcome === 'YES',
    t: type,
    am: usdc(amountMicros),
    s: status,
    cat: iso(at),
    e: external,
    f: 0,
    ta: type === 'WITHDRAWAL' ? madeUpAddress('withdrawal', userId) : NO_TEXT,
    bu: listing ? NO_TEXT : `${CHAIN.explorer}/${external}`,
    bn: listing ? NO_TEXT : CHAIN.name,
  };
}

/** A fill in the public activity feed: the taker's side. */
export function activityItem(trade: TradeView, taker: ProfileView, lookup: MarketLookup): ActivityWire {
  const { event, market } = lookup.of(trade);
  return {
    u: trade.userId,
    tra: trade.tradeRecordId,
    n: taker.username,
    oi: trade.marketId,
    on: market.name,
    p: trade.outcome,
    si: trade.side,
    q: shares(trade.quantity),
    x: iso(trade.at),
    eq: event.title,
    ei: eventIcon(event.slug),
    es: event.slug,
    tn: trade.outcome,
    ip: trade.outcome === 'YES',
    pr: price(trade.price),
    ev: usdc(event.totalVolumeMicros),
    uv: usdc(taker.volumeMicros),
  };
}

/** @param me whether the account requests its own statistics */
export function profileStats(account: AccountView, me: boolean, lookup: MarketLookup): ProfileStatsWire {
  const value = account.positions.reduce(
    (sum, position) => sum + valueMicros(lookup.of(position).market, position.outcome, position.shares),
    0,
  );
  return {
    profile: { userId: account.userId, username: account.username, joinedAt: iso(account.joinedAt), me },
    cards: {
      positionValue: usdc(value),
      volumeTraded: usdc(account.volumeMicros),
      marketsTraded: account.marketsTraded,
    },
  };
}

export const POSITION_TABS = ['active', 'closed'] as const;
type PositionTab = (typeof POSITION_TABS)[number];

/** `od` is when the oldest open position was opened, `cd` when the last one was closed; null without positions. */
export function positionStats(account: AccountView, tab: PositionTab): PositionStatsWire {
  const { positions, closedPositions, lastClosedAt } = account;
  const opened = positions.map(({ openedAt }) => openedAt);
  return {
    tab,
    ti: tab === 'active' ? positions.length : closedPositions,
    od: isoOrNull(opened.length === 0 ? null : Math.min(...opened)),
    cd: isoOrNull(lastClosedAt),
  };
}

const digest = (kind: string, id: string): string => sha256Hex(`${kind} ${id}`);
const madeUpAddress = (kind: string, userId: string): string => `0x${digest(`${kind} address`, userId).slice(0, 40)}`;
