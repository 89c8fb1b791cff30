import type { Account } from './account.js';
import type { Market } from './market.js';
import type { OrderType, Outcome, Side } from './types.js';

/** An order that rests in a book, or is being matched. */
export class LiveOrder {
  /** What is still to be filled, hundredths. */
  remaining: number;
  filled = 0;
  filledMicros = 0;
  /** A BUY's locked USDC, micros. A SELL locks `remaining` shares instead. */
  lockedMicros = 0;
  /** Neighbours of the same price, by time. */
  previous: LiveOrder | undefined;
  next: LiveOrder | undefined;

  constructor(
    readonly number: number,
    readonly account: Account,
    readonly market: Market,
    readonly outcome: Outcome,
    readonly side: Side,
    readonly type: OrderType,
    /** Of its own asset, cents; for a market order the worst that exists. */
    readonly price: number,
    /** As placed, hundredths; for a market BUY more than any amount buys. */
    readonly quantity: number,
    /** What a market BUY may spend, micros; 0 otherwise. */
    readonly amount: number,
    readonly placedAt: number,
    /** Its place in the account's order history. */
    readonly historyIndex: number,
  ) {
    this.remaining = quantity;
  }

  /** Whether it bids in YES terms: buying YES and selling NO do. */
  get bids(): boolean {
    return (this.side === 'BUY') === (this.outcome === 'YES');
  }

  /** Its price in YES terms, cents. */
  get level(): number {
    return this.outcome === 'YES' ? this.price : 100 - this.price;
  }
}

interface Queue {
  first: LiveOrder | undefined;
  last: LiveOrder | undefined;
}

/** The resting orders of one market in YES terms: price, then time priority. */
export class Book {
  /** By level; made when first needed. */
  readonly #bids: (Queue | undefined)[] = [];
  readonly #asks: (Queue | undefined)[] = [];
  #bestBid = 0;
  #bestAsk = 100;

  /** Cents; 0 when nobody bids. */
  get bestBid(): number {
    return this.#bestBid;
  }

  /** Cents; 100 when nobody asks. */
  get bestAsk(): number {
    return this.#bestAsk;
  }

  /** The order that an incoming bid (or ask) meets first. */
  firstAgainst(incomingBids: boolean): LiveOrder | undefined {
    return incomingBids ? this.#asks[this.#bestAsk]?.first : this.#bids[this.#bestBid]?.first;
  }

  add(order: LiveOrder): void {
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

  remove(order: LiveOrder): void {
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
  *orders(): Generator<LiveOrder> {
    for (let level = this.#bestBid; level > 0; level--) yield* chain(this.#bids[level]);
    for (let level = this.#bestAsk; level < 100; level++) yield* chain(this.#asks[level]);
  }
}

function queueOf(side: (Queue | undefined)[], level: number): Queue {
  const queue = side[level] ?? { first: undefined, last: undefined };
  side[level] = queue;
  return queue;
}

function* chain(queue: Queue | undefined): Generator<LiveOrder> {
  for (let order = queue?.first; order; order = order.next) yield order;
}
