import { inYesTerms, marketOfAsset, outcomeOfAsset } from './assets.js';
import type { Account, LiveOrder, Market, MarketEvent, Tpsl } from './entities.js';
import type { FillRecord, FillSide, OrderRecord, PriceRecord, TpslRecord, TransactionRecord } from './records.js';
import type { State } from './state.js';
import type { FillKind, TruthPrice, TruthTrade } from './truth-types.js';
import type {
  AccountView,
  BalanceChange,
  EventView,
  MarketView,
  OrderStatus,
  OrderView,
  PositionView,
  TpslStatus,
  TpslView,
  TradeView,
  TransactionView,
} from './types.js';
import { priceFromCents, sharesFromHundredths, usdcFromMicros } from './units.js';

export function marketView(market: Market, now: number): MarketView {
  const { resolved, volume, book } = market;
  return {
    marketId: market.marketId,
    eventId: market.event.eventId,
    name: market.name,
    yesAssetId: market.yesAssetId,
    noAssetId: market.noAssetId,
    chance: market.chance,
    bestBid: priceFromCents(book.bestBid),
    bestAsk: priceFromCents(book.bestAsk),
    openedAt: market.openedAt,
    openingChance: market.openingChance,
    ...(resolved ? { resolved } : {}),
    volumeMicros: volume.total,
    volume24hMicros: volume.lastDay(now),
    trades: market.trades,
    shares: { yes: market.yesShares, no: market.noShares },
  };
}

export function eventView(event: MarketEvent, now: number): EventView {
  const markets = event.markets.map((market) => marketView(market, now));
  const sum = (of: (market: MarketView) => number) => markets.reduce((total, market) => total + of(market), 0);
  return {
    eventId: event.eventId,
    title: event.title,
    slug: event.slug,
    category: event.category,
    tags: event.tags,
    featured: event.featured,
    createdAt: event.createdAt,
    closesAt: event.closesAt,
    markets,
    open: event.open,
    volume24hMicros: sum((market) => market.volume24hMicros),
    totalVolumeMicros: sum((market) => market.volumeMicros),
    liquidityMicros: event.markets.reduce((total, market) => total + market.liquidity, 0),
  };
}

export function liveOrderView(state: State, order: LiveOrder, status: OrderStatus, finishedAt: number): OrderView {
  const { market, outcome } = order;
  return {
    orderId: state.ids.id('order', order.number),
    userId: order.account.userId,
    eventId: market.event.eventId,
    marketId: market.marketId,
    assetId: market.assetId(outcome),
    outcome,
    side: order.side,
    type: order.type,
    price: order.type === 'MARKET' ? 0 : order.price,
    quantity: order.amount > 0 ? 0 : order.quantity,
    amountMicros: order.amount,
    filled: order.filled,
    filledMicros: order.filledMicros,
    status,
    placedAt: order.placedAt,
    ...(status === 'ACTIVE' ? {} : { finishedAt }),
  };
}

export function orderView(state: State, account: Account, record: OrderRecord): OrderView {
  const market = state.marketAt(record.market);
  return {
    orderId: state.ids.id('order', record.number),
    userId: account.userId,
    eventId: market.event.eventId,
    marketId: market.marketId,
    assetId: market.assetId(record.outcome),
    outcome: record.outcome,
    side: record.side,
    type: record.type,
    price: record.price,
    quantity: record.quantity,
    amountMicros: record.amount,
    filled: record.filled,
    filledMicros: record.filledMicros,
    status: record.status,
    placedAt: record.placedAt,
    ...(record.status === 'ACTIVE' ? {} : { finishedAt: record.finishedAt }),
  };
}

/** The kind of a fill by its two sides: shares are transferred, or a pair is minted or merged. */
function kindOf(taker: FillSide, maker: FillSide): FillKind {
  if (taker.outcome === maker.outcome) return 'transfer';
  return taker.side === 'BUY' ? 'mint' : 'merge';
}

const bids = (side: FillSide): boolean => (side.side === 'BUY') === (side.outcome === 'YES');

export function fillView(state: State, seq: number, fill: FillRecord): TruthTrade {
  const { taker, maker, level } = fill;
  const market = state.marketAt(fill.market);
  const kind = kindOf(taker, maker);
  const outcome = kind === 'transfer' ? taker.outcome : 'YES';
  const takerBuys = kind === 'transfer' ? taker.side === 'BUY' : bids(taker);
  const [buyer, seller] = takerBuys ? [taker, maker] : [maker, taker];
  return {
    seq,
    tradeId: state.ids.id('trade', seq),
    eventId: market.event.eventId,
    marketId: market.marketId,
    assetId: market.assetId(outcome),
    price: priceFromCents(inYesTerms(outcome, level)),
    quantity: sharesFromHundredths(fill.quantity),
    takerFee: usdcFromMicros(fill.fee),
    taker: takerBuys ? 'buyer' : 'seller',
    buyOrderId: state.ids.id('order', buyer.order),
    sellOrderId: state.ids.id('order', seller.order),
    buyer: state.accountAt(buyer.account).userId,
    seller: state.accountAt(seller.account).userId,
    kind,
    at: fill.at,
  };
}

/** One side of a fill as its owner's trade. */
export function tradeView(state: State, seq: number, fill: FillRecord, maker: boolean): TradeView {
  const own = maker ? fill.maker : fill.taker;
  const market = state.marketAt(fill.market);
  return {
    tradeRecordId: state.ids.id('tradeRecord', seq * 2 + (maker ? 1 : 0)),
    tradeId: state.ids.id('trade', seq),
    userId: state.accountAt(own.account).userId,
    orderId: state.ids.id('order', own.order),
    side: own.side,
    eventId: market.event.eventId,
    marketId: market.marketId,
    assetId: market.assetId(own.outcome),
    outcome: own.outcome,
    quantity: fill.quantity,
    price: inYesTerms(own.outcome, fill.level),
    feeMicros: maker ? 0 : fill.fee,
    at: fill.at,
  };
}

export function truthPriceView(state: State, seq: number, price: PriceRecord): TruthPrice {
  const market = state.marketAt(price.market);
  return {
    seq,
    eventId: market.event.eventId,
    marketId: market.marketId,
    c: price.chance,
    b: priceFromCents(price.bestBid),
    a: priceFromCents(price.bestAsk),
    at: price.at,
  };
}

export function transactionView(state: State, account: Account, record: TransactionRecord): TransactionView {
  const market = record.type === 'PAYOUT' ? state.marketAt(marketOfAsset(record.asset)) : undefined;
  return {
    transactionId: state.ids.id('transaction', record.number),
    userId: account.userId,
    type: record.type,
    assetId: market ? market.assetId(outcomeOfAsset(record.asset)) : state.usdcId,
    ...(market ? { marketId: market.marketId } : {}),
    amountMicros: record.amount,
    status: 'COMPLETED',
    at: record.at,
  };
}

export function liveTpslView(state: State, tpsl: Tpsl, status: TpslStatus, order: number): TpslView {
  return tpslView(state, tpsl.account, { ...tpsl, market: tpsl.market.number, status, order });
}

export function tpslView(state: State, account: Account, record: TpslRecord): TpslView {
  const market = state.marketAt(record.market);
  return {
    tpslId: state.ids.id('tpsl', record.number),
    userId: account.userId,
    eventId: market.event.eventId,
    marketId: market.marketId,
    assetId: market.assetId(record.outcome),
    outcome: record.outcome,
    quantity: record.quantity,
    takeProfit: record.takeProfit,
    stopLoss: record.stopLoss,
    status: record.status,
    placedAt: record.placedAt,
    ...(record.order > 0 ? { orderId: state.ids.id('order', record.order) } : {}),
  };
}

export function accountView(state: State, account: Account): AccountView {
  return {
    userId: account.userId,
    email: account.email,
    username: account.username,
    joinedAt: account.joinedAt,
    usdcMicros: account.free + account.locked,
    lockedMicros: account.locked,
    realisedPnlMicros: account.realisedPnl,
    feesPaidMicros: account.feesPaid,
    volumeMicros: account.volume,
    marketsTraded: account.tradesByMarket.size,
    positions: positionViews(state, account),
    closedPositions: account.closedPositions,
    lastClosedAt: account.lastClosedAt,
  };
}

function positionViews(state: State, account: Account): PositionView[] {
  return [...account.positions.values()].map((position) => {
    const market = state.marketAt(marketOfAsset(position.asset));
    const outcome = outcomeOfAsset(position.asset);
    return {
      assetId: market.assetId(outcome),
      eventId: market.event.eventId,
      marketId: market.marketId,
      outcome,
      shares: position.shares,
      freeShares: position.shares - position.locked,
      costMicros: position.cost,
      openedAt: position.openedAt,
      orderId: state.ids.id('order', position.order),
    };
  });
}

/** @param asset an asset number, or null for USDC */
export function balanceView(state: State, account: Account, asset: number | null, at: number): BalanceChange {
  const { userId } = account;
  if (asset === null) {
    const balance = account.free + account.locked;
    return { userId, assetId: state.usdcId, balance, free: account.free, costMicros: 0, at };
  }
  const position = account.positions.get(asset);
  const assetId = state.marketAt(marketOfAsset(asset)).assetId(outcomeOfAsset(asset));
  const shares = position?.shares ?? 0;
  const free = shares - (position?.locked ?? 0);
  return { userId, assetId, balance: shares, free, costMicros: position?.cost ?? 0, at };
}
