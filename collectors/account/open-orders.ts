import type { ActiveOrder, OrderRecord } from '../../client/index.js';
import { parseDecimal12 } from '../../core/index.js';
import type { SavedOrder } from './account-state.js';

/** Final statuses of orders. */
const FINAL_STATUSES = ['FILLED', 'CANCELLED', 'CANCELED', 'FAILED', 'REJECTED', 'EXPIRED'];

interface OpenOrder {
  readonly market: string | null;
  /** 10^-12 shares; null when the record does not have it. */
  readonly remaining: bigint | null;
  /** When the record was read, Unix microseconds; 0 if this process has not read it. */
  readonly readAt: number;
  /** Number of reads without a change although it is not in the book. */
  readonly unchangedReads: number;
}

/** The account's orders that are in the book, as a complete poll lists them. */
interface Book {
  /** When the poll started, Unix microseconds. */
  readonly startedAt: number;
  /** Order ID → remaining quantity, 10^-12 shares; null when it cannot be understood. */
  readonly remaining: ReadonlyMap<string, bigint | null>;
}

/** After this many reads without a change, an order that is not in the book is assumed to have a final status unknown to us. */
const MAX_UNCHANGED_READS = 5;

/**
 * Orders whose record may still change. An order that is missing from the list of active orders, or has another remaining
 * quantity there, must be read again.
 */
export class OpenOrders {
  readonly #orders = new Map<string, OpenOrder>();
  #book: Book | undefined;

  get saved(): SavedOrder[] {
    return [...this.#orders].map(([orderId, { market, remaining }]) => ({
      orderId,
      market,
      remaining: remaining === null ? null : String(remaining),
    }));
  }

  /** Adds the orders of a former process, all of which must be read again. */
  restore(orders: readonly SavedOrder[]): void {
    for (const { orderId, market } of orders) {
      this.#orders.set(orderId, { market, remaining: null, readAt: 0, unchangedReads: 0 });
    }
  }

  /** Call when a record was read. */
  read(record: OrderRecord, atMicros: number): void {
    const { orderId, status, marketId: market } = record;
    const before = this.#orders.get(orderId);
    if (status !== null && FINAL_STATUSES.includes(status.toUpperCase())) {
      this.#orders.delete(orderId);
      return;
    }
    const remaining = remainingOf(record);
    const previous = before !== undefined && before.readAt > 0 ? before : undefined;
    const hadLeft =
      previous && this.#book && this.#book.startedAt > previous.readAt && !this.#book.remaining.has(orderId);
    const isUnchanged = hadLeft && previous.remaining === remaining;
    const unchangedReads = isUnchanged ? previous.unchangedReads + 1 : (previous?.unchangedReads ?? 0);
    this.#orders.set(orderId, { market, remaining, readAt: atMicros, unchangedReads });
  }

  /** Call when a complete list of active orders was read. */
  setBook(orders: readonly ActiveOrder[], startedAt: number): void {
    const remaining = new Map(orders.map(({ orderId, quantity }) => [orderId, unitsOf(quantity)]));
    this.#book = { startedAt, remaining };
  }

  /** The order is no longer in the history. */
  delete(orderId: string): void {
    this.#orders.delete(orderId);
  }

  /** Orders that must be read again, by market; those of an unknown market are under null. */
  changed(): Map<string | null, Set<string>> {
    const changed = new Map<string | null, Set<string>>();
    for (const [orderId, order] of this.#orders) {
      if (!this.#hasChanged(orderId, order)) continue;
      const orderIds = changed.get(order.market) ?? new Set<string>();
      changed.set(order.market, orderIds.add(orderId));
    }
    return changed;
  }

  #hasChanged(orderId: string, { readAt, remaining, unchangedReads }: OpenOrder): boolean {
    if (readAt === 0) return true;
    const book = this.#book;
    // Only a book that is newer than the record can contradict it.
    if (!book || book.startedAt <= readAt) return false;
    const inBook = book.remaining.get(orderId);
    if (inBook === undefined) return unchangedReads < MAX_UNCHANGED_READS;
    return remaining !== null && inBook !== null && inBook !== remaining;
  }
}

function remainingOf({ originalQuantity, filledQuantity }: OrderRecord): bigint | null {
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
