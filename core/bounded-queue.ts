import { type Deferred, deferred } from './deferred.js';

/**
 * A bounded queue with many producers and one consumer. It never drops: `push` takes an item even when full and returns
 * false, which asks the producer to pause until `whenBelowCapacity()` resolves.
 */
export class BoundedQueue<T> {
  #items: T[] = [];
  #head = 0;
  #size = 0;
  #closed = false;
  #belowCapacity: Deferred | undefined;
  #work = deferred();

  /**
   * @param capacity total size from which producers should pause
   * @param sizeOf an item's share of the capacity (1 counts items, byte length counts bytes)
   */
  constructor(
    readonly capacity: number,
    private readonly sizeOf: (item: T) => number = () => 1,
  ) {}

  get length(): number {
    return this.#items.length - this.#head;
  }

  get size(): number {
    return this.#size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Adds the item; false when the queue is now full and the producer should pause. Throws after `close`. */
  push(item: T): boolean {
    if (this.#closed) throw new Error('push to a closed queue');
    this.#items.push(item);
    this.#size += this.sizeOf(item);
    this.#work.resolve();
    return this.#size < this.capacity;
  }

  /** Resolves when the queue is below capacity, or closed. */
  whenBelowCapacity(): Promise<void> {
    if (this.#size < this.capacity || this.#closed) return Promise.resolve();
    this.#belowCapacity ??= deferred();
    return this.#belowCapacity.promise;
  }

  /** Waits for items, then removes up to `max` of them. An empty array means closed and drained. */
  async take(max: number): Promise<T[]> {
    while (this.length === 0) {
      if (this.#closed) return [];
      this.#work = deferred();
      await this.#work.promise;
    }
    const taken = this.#items.slice(this.#head, this.#head + max);
    this.#head += taken.length;
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (this.#head > 65_536) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    for (const item of taken) this.#size -= this.sizeOf(item);
    if (this.#size < this.capacity) this.#resolveWaiters();
    return taken;
  }

  /** Rejects further pushes; queued items can still be taken. */
  close(): void {
    this.#closed = true;
    this.#work.resolve();
    this.#resolveWaiters();
  }

  #resolveWaiters(): void {
    this.#belowCapacity?.resolve();
    this.#belowCapacity = undefined;
  }
}
