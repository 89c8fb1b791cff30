import type { ActiveOrder, OrderRecord } from '../../client/index.js';
import { parseDecimal12 } from '../../core/index.js';
import type { SavedOrder } from './account-state.js';

/** Statuses that no order leaves any more. */
const FINAL_STATUSES = ['FILLED', 'CANCELLED', 'CANCELED', 'FAILED', 'REJECTED', 'EXPIRED'];

interface OpenOrder {
  readonly market: string | null;
  /** 10^-12 shares; null when the record does not say. */
  readonly remaining: bigint | null;
  /** When the record was read, Unix microseconds; 0 for one that this collector has not read. */
  readonly readAt: number;
  /** How often it was read again without a change although it is not in the book. */
  readonly fruitless: number;
}

/** The account's orders that are in the book, as a complete poll said. */
interface Book {
  /** When it was asked, Unix microseconds. */
  readonly askedAt: number;
  /** Order ID → what is left of it, 10^-12 shares; null for a quantity that is none. */
  readonly remaining: ReadonlyMap<string, bigint | null>;
}

/** An order that is in no book and does not change has a status that we do not know to be final. */
const MAX_FRUITLESS = 5;

/**
 * Orders whose record may still change. Which of them have changed is told by the orders in the book: one that left it,
 * or of which less is left, must be read again.
 */
export class OpenOrders {
  readonly #orders = new Map<string, OpenOrder>();
  #book: Book | undefined;

  get saved(): SavedOrder[] {
    return [...this.#orders].map(([order, { market, remaining }]) => ({
      order,
      market,
      remaining: remaining === null ? null : String(remaining),
    }));
  }

  /** Orders of before, none of which this collector has read yet. */
  restore(orders: readonly SavedOrder[]): void {
    for (const { order, market } of orders) {
      this.#orders.set(order, { market, remaining: null, readAt: 0, fruitless: 0 });
    }
  }

  /** A record was read. */
  read(record: OrderRecord, atMicros: number): void {
    const { orderId, status, marketId: market } = record;
    const before = this.#orders.get(orderId);
    if (status !== null && FINAL_STATUSES.includes(status.toUpperCase())) {
      this.#orders.delete(orderId);
      return;
    }
    const remaining = leftOf(record);
    const was = before !== undefined && before.readAt > 0 ? before : undefined;
    const wasGone = was && this.#book && this.#book.askedAt > was.readAt && !this.#book.remaining.has(orderId);
    const fruitless = wasGone && was.remaining === remaining ? was.fruitless + 1 : (was?.fruitless ?? 0);
    this.#orders.set(orderId, { market, remaining, readAt: atMicros, fruitless });
  }

  /** The list of active orders was read completely. */
  inBook(orders: readonly ActiveOrder[], askedAt: number): void {
    const remaining = new Map(orders.map(({ orderId, quantity }) => [orderId, unitsOf(quantity)]));
    this.#book = { askedAt, remaining };
  }

  /** An order that no longer is in the history: there is nothing to read again. */
  forget(orderId: string): void {
    this.#orders.delete(orderId);
  }

  /** Orders that must be read again, by market; null holds those of which the market is not known. */
  changed(): Map<string | null, Set<string>> {
    const changed = new Map<string | null, Set<string>>();
    for (const [orderId, order] of this.#orders) {
      if (!this.#hasChanged(orderId, order)) continue;
      const own = changed.get(order.market) ?? new Set<string>();
      changed.set(order.market, own.add(orderId));
    }
    return changed;
  }

  #hasChanged(orderId: string, { readAt, remaining, fruitless }: OpenOrder): boolean {
    if (readAt === 0) return true;
    const book = this.#book;
    // Only a book that is younger than the record can contradict it.
    if (!book || book.askedAt <= readAt) return false;
    const left = book.remaining.get(orderId);
    if (left === undefined) return fruitless < MAX_FRUITLESS;
    return remaining !== null && left !== null && left !== remaining;
  }
}

function leftOf({ originalQuantity, filledQuantity }: OrderRecord): bigint | null {
  const original = originalQuantity === null ? null : unitsOf(originalQuantity);
  const filled = filledQuantity === null ? null : unitsOf(filledQuantity);
  return original === null || filled === null ? null : original - filled;
}

function unitsOf(quantity: string): bigint | null {
  try {
    return parseDecimal12(quantity);
  } catch {
    return null;
  }
}
