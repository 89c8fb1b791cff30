/** An order in a book: side and price in YES terms, and links to its neighbours at the same price. */
export interface Resting<T> {
  /** Whether it bids in YES terms. */
  readonly bids: boolean;
  /** Its price in YES terms, cents. */
  readonly level: number;
  previous: T | undefined;
  next: T | undefined;
}

interface Queue<T> {
  first: T | undefined;
  last: T | undefined;
}

/** The resting orders of one market in YES terms: price, then time priority. */
export class Book<T extends Resting<T>> {
  /** By level; created on first use. */
  readonly #bids: (Queue<T> | undefined)[] = [];
  readonly #asks: (Queue<T> | undefined)[] = [];
  #bestBid = 0;
  #bestAsk = 100;

  /** Cents; 0 when there is no bid. */
  get bestBid(): number {
    return this.#bestBid;
  }

  /** Cents; 100 when there is no ask. */
  get bestAsk(): number {
    return this.#bestAsk;
  }

  /** The first order that an incoming bid (or ask) is matched with. */
  firstAgainst(incomingBids: boolean): T | undefined {
    return incomingBids ? this.#asks[this.#bestAsk]?.first : this.#bids[this.#bestBid]?.first;
  }

  add(order: T): void {
    const { bids, level } = order;
    const queue = queueOf(bids ? this.#bids : this.#asks, level);
    order.previous = queue.last;
    order.next = undefined;
    if (queue.last) queue.last.next = order;
    else queue.first = order;
    queue.last = order;
    if (bids) this.#bestBid = Math.max(this.#bestBid, level);
    else this.#bestAsk = Math.min(this.#bestAsk, level);
  }

  remove(order: T): void {
    const { bids, level, previous, next } = order;
    const queue = queueOf(bids ? this.#bids : this.#asks, level);
    if (previous) previous.next = next;
    else queue.first = next;
    if (next) next.previous = previous;
    else queue.last = previous;
    order.previous = undefined;
    order.next = undefined;
    if (queue.first) return;
    if (bids) while (this.#bestBid > 0 && !this.#bids[this.#bestBid]?.first) this.#bestBid -= 1;
    else while (this.#bestAsk < 100 && !this.#asks[this.#bestAsk]?.first) this.#bestAsk += 1;
  }

  /** All resting orders: bids from the best down, then asks from the best up, each price by time. */
  *orders(): Generator<T> {
    for (let level = this.#bestBid; level > 0; level--) yield* chain(this.#bids[level]);
    for (let level = this.#bestAsk; level < 100; level++) yield* chain(this.#asks[level]);
  }
}

function queueOf<T>(side: (Queue<T> | undefined)[], level: number): Queue<T> {
  const queue = side[level] ?? { first: undefined, last: undefined };
  side[level] = queue;
  return queue;
}

function* chain<T extends Resting<T>>(queue: Queue<T> | undefined): Generator<T> {
  for (let order = queue?.first; order; order = order.next) yield order;
}
