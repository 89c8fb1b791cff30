import { type Deferred, deferred } from './deferred.js';

/**
 * The one bounded queue: many producers, one consumer. It never drops: `push` takes an item even when full and answers
 * false, which tells the producer to stop until `whenBelowCapacity()` resolves.
 */
export class BoundedQueue<T> {
  #items: T[] = [];
  #head = 0;
  #size = 0;
  #closed = false;
  #room: Deferred | undefined;
  #work = deferred();

  /**
   * @param capacity total size at which producers are asked to pause
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

  /** Takes the item; false when the queue is now full and the producer should pause. Throws after `close`. */
  push(item: T): boolean {
    if (this.#closed) throw new Error('push to a closed queue');
    this.#items.push(item);
    this.#size += this.sizeOf(item);
    this.#work.resolve();
    return this.#size < this.capacity;
  }

  /** Resolves when there is room again, or the queue was closed. */
  whenBelowCapacity(): Promise<void> {
    if (this.#size < this.capacity || this.#closed) return Promise.resolve();
    this.#room ??= deferred();
    return this.#room.promise;
  }

  /** Waits for items, then takes up to `max` of them. An empty array means closed and drained. */
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

  /** No more pushes; what is inside can still be taken. */
  close(): void {
    this.#closed = true;
    this.#work.resolve();
    this.#resolveWaiters();
  }

  #resolveWaiters(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
