import type { Series } from '../store/index.js';
import type { Slice, SliceRequest } from './core.js';
import type { Account, Extent, LiveOrder, Tpsl } from './entities.js';
import {
  decodeFill,
  decodeOrder,
  decodePrice,
  decodeTpsl,
  decodeTransaction,
  fillOfTrade,
  marketOfOrder,
} from './records.js';
import type { State } from './state.js';
import type { TruthPrice, TruthTrade } from './truth-types.js';
import type { ChancePoint, OrderView, TpslView, TradeView, TransactionView } from './types.js';
import { fillView, liveOrderView, orderView, tpslView, tradeView, transactionView, truthPriceView } from './views.js';

/** Number of records read from a series at a time. */
const CHUNK = 4096;

/** Reads histories: pages of an account's records, chance points, rows of the truth. */
export class History {
  constructor(private readonly state: State) {}

  orders(account: Account, request: SliceRequest): Slice<OrderView> {
    const series = account.histories.orders;
    const extent = this.#extent(account.ordersByMarket, request);
    const market = this.#market(request);
    const indexes = pageOf(series, request, extent, (words) => marketOfOrder(words) === market);
    const items = indexes.items.map((index) => {
      const record = decodeOrder(series.read(index));
      const live = this.state.orders.get(record.number);
      return live ? liveOrderView(this.state, live, 'ACTIVE', 0) : orderView(this.state, account, record);
    });
    return { items, total: indexes.total };
  }

  /** The current state of an order, active or ended. */
  order(order: LiveOrder): OrderView {
    if (this.state.orders.has(order.number)) return liveOrderView(this.state, order, 'ACTIVE', 0);
    return orderView(this.state, order.account, decodeOrder(order.account.histories.orders.read(order.historyIndex)));
  }

  tpslOrder(tpsl: Tpsl): TpslView {
    return tpslView(this.state, tpsl.account, decodeTpsl(tpsl.account.histories.tpsl.read(tpsl.historyIndex)));
  }

  trades(account: Account, request: SliceRequest): Slice<TradeView> {
    const series = account.histories.trades;
    const extent = this.#extent(account.tradesByMarket, request);
    const market = this.#market(request);
    const { items, total } = pageOf(series, request, extent, (words) => words[1] === market);
    return { items: items.map((index) => this.#trade(series.read(index)[0] as number)), total };
  }

  transactions(account: Account, request: SliceRequest): Slice<TransactionView> {
    const series = account.histories.transactions;
    const { items, total } = pageOf(series, request, undefined, () => true);
    return {
      items: items.map((index) => transactionView(this.state, account, decodeTransaction(series.read(index)))),
      total,
    };
  }

  activity(request: SliceRequest): Slice<TradeView> {
    const { items, total } = pageOf(this.state.fills, request, undefined, () => true);
    return { items: items.map((index) => this.#trade((index + 1) * 2)), total };
  }

  tpsl(account: Account): TpslView[] {
    const series = account.histories.tpsl;
    return Array.from({ length: series.length }, (_, i) => {
      const record = decodeTpsl(series.read(i));
      return tpslView(this.state, account, record);
    });
  }

  chancePoints(marketId: string, from: number, to: number): ChancePoint[] {
    const series = this.state.marketsById.get(marketId)?.chances;
    if (!series || from > to) return [];
    const words = series.slice(series.countUpTo(from - 1), series.countUpTo(to));
    const points: ChancePoint[] = [];
    for (let i = 0; i < words.length; i += 2) points.push({ t: words[i] as number, p: words[i + 1] as number });
    return points;
  }

  lastChanceAtOrBefore(marketId: string, seconds: number): ChancePoint | undefined {
    const series = this.state.marketsById.get(marketId)?.chances;
    const count = series?.countUpTo(seconds) ?? 0;
    if (!series || count === 0) return undefined;
    const [t, p] = series.read(count - 1);
    return { t: t as number, p: p as number };
  }

  *fillsAfter(seq: number): Generator<TruthTrade> {
    for (const [next, words] of recordsAfter(this.state.fills, seq))
      yield fillView(this.state, next, decodeFill(words));
  }

  *pricesAfter(seq: number): Generator<TruthPrice> {
    for (const [next, words] of recordsAfter(this.state.prices, seq)) {
      yield truthPriceView(this.state, next, decodePrice(words));
    }
  }

  #trade(trade: number): TradeView {
    const { fill, maker } = fillOfTrade(trade);
    return tradeView(this.state, fill, decodeFill(this.state.fills.read(fill - 1)), maker);
  }

  #market(request: SliceRequest): number {
    return this.state.marketsById.get(request.marketId ?? '')?.number ?? -1;
  }

  #extent(extents: Map<number, Extent>, request: SliceRequest): Extent | undefined {
    if (request.marketId === undefined) return undefined;
    return extents.get(this.#market(request)) ?? { first: 0, last: -1, count: 0 };
  }
}

/** Indexes of one page's records, newest first unless `sort` is `asc`; with an extent, only the matching records within it. */
function pageOf(
  series: Series,
  request: SliceRequest,
  extent: Extent | undefined,
  matches: (words: Float64Array) => boolean,
): Slice<number> {
  const { page, size, sort = 'desc' } = request;
  const total = extent ? extent.count : series.length;
  const skipped = page * size;
  const wanted = Math.max(0, Math.min(size, total - skipped));
  if (wanted === 0) return { items: [], total };
  if (!extent) {
    const nth = (i: number) => (sort === 'asc' ? skipped + i : series.length - 1 - skipped - i);
    return { items: Array.from({ length: wanted }, (_, i) => nth(i)), total };
  }
  const items: number[] = [];
  let seen = 0;
  for (const index of indexes(extent, sort)) {
    if (!matches(series.read(index))) continue;
    if (seen++ >= skipped) items.push(index);
    if (items.length === wanted) break;
  }
  return { items, total };
}

function* indexes(extent: Extent, sort: 'asc' | 'desc'): Generator<number> {
  if (sort === 'asc') for (let i = extent.first; i <= extent.last; i++) yield i;
  else for (let i = extent.last; i >= extent.first; i--) yield i;
}

/** Records of a global series with their sequence number (index + 1), up to the newest at the time of the call. */
function* recordsAfter(series: Series, seq: number): Generator<[number, Float64Array]> {
  const end = series.length;
  for (let from = Math.max(0, seq); from < end; from += CHUNK) {
    const to = Math.min(end, from + CHUNK);
    const words = series.slice(from, to);
    for (let i = 0; i < to - from; i++) yield [from + i + 1, words.subarray(i * series.width, (i + 1) * series.width)];
  }
}
