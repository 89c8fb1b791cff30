import type { Side } from '../client/trading/index.js';
import type { Outcome } from './market.js';

/** A bot's own order, as far as it knows. */
export interface OwnOrder {
  /** Undefined while the exchange has not answered. */
  orderId: string | undefined;
  readonly marketId: string;
  readonly assetId: string;
  readonly outcome: Outcome;
  readonly side: Side;
  /** Price of its own asset, cents. */
  readonly price: number;
  /** What is left of it, hundredths of a share; Infinity for a market order. */
  remaining: number;
}

/**
 * The orders that a bot has in the books. No stream reports fills: a fill changes the balance of the asset, and price-time
 * priority tells which order it was.
 */
export class OwnOrders {
  /** In the order in which they were placed. */
  readonly #all = new Set<OwnOrder>();
  readonly #byId = new Map<string, OwnOrder>();
  readonly #byMarket = new Map<string, OwnOrder[]>();

  get count(): number {
    return this.#all.size;
  }

  get oldest(): OwnOrder | undefined {
    for (const order of this.#all) if (order.orderId !== undefined) return order;
    return undefined;
  }

  /** IDs that the exchange gave. */
  get ids(): Iterable<string> {
    return this.#byId.keys();
  }

  byId(orderId: string): OwnOrder | undefined {
    return this.#byId.get(orderId);
  }

  /** Those of a market that the exchange has named. */
  ofMarket(marketId: string): readonly OwnOrder[] {
    return (this.#byMarket.get(marketId) ?? []).filter((order) => order.orderId !== undefined);
  }

  add(order: OwnOrder): void {
    this.#all.add(order);
    const others = this.#byMarket.get(order.marketId);
    if (others) others.push(order);
    else this.#byMarket.set(order.marketId, [order]);
    if (order.orderId !== undefined) this.#byId.set(order.orderId, order);
  }

  /** The exchange answered with an ID. An order that was filled by then is not recorded. */
  name(order: OwnOrder, orderId: string): void {
    order.orderId = orderId;
    if (this.#all.has(order)) this.#byId.set(orderId, order);
  }

  remove(order: OwnOrder): void {
    if (!this.#all.delete(order)) return;
    if (order.orderId !== undefined) this.#byId.delete(order.orderId);
    const others = this.#byMarket.get(order.marketId)?.filter((other) => other !== order) ?? [];
    if (others.length > 0) this.#byMarket.set(order.marketId, others);
    else this.#byMarket.delete(order.marketId);
  }

  /** The market is resolved: its book is empty. */
  removeMarket(marketId: string): void {
    for (const order of this.#byMarket.get(marketId) ?? []) this.remove(order);
  }

  /** A quantity of an asset was bought or sold: by the order with the best price, the oldest first. */
  filled(marketId: string, assetId: string, side: Side, quantity: number): void {
    const better = (a: OwnOrder, b: OwnOrder) => (side === 'BUY' ? b.price - a.price : a.price - b.price);
    const candidates = (this.#byMarket.get(marketId) ?? []).filter((o) => o.assetId === assetId && o.side === side);
    let left = quantity;
    for (const order of candidates.sort(better)) {
      const part = Math.min(left, order.remaining);
      left -= part;
      order.remaining -= part;
      if (order.remaining <= 0) this.remove(order);
      if (left <= 0) return;
    }
  }
}
