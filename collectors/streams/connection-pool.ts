/** Something that carries a bounded number of subscriptions. */
export interface Shard {
  readonly size: number;
  close(): Promise<void>;
}

/** Spreads keys over shards: each goes to the first with room, empty ones are closed. */
export class Shards<S extends Shard> {
  readonly #of = new Map<string, S>();
  readonly #open = new Set<S>();
  readonly #closing = new Set<Promise<void>>();

  constructor(
    private readonly capacity: number,
    private readonly create: () => S,
  ) {}

  get keys(): Iterable<string> {
    return this.#of.keys();
  }

  get(key: string): S | undefined {
    return this.#of.get(key);
  }

  /** The shard that carries the key from now on; the caller adds it there. */
  place(key: string): S {
    const existing = this.#of.get(key);
    if (existing) return existing;
    let shard = [...this.#open].find((s) => s.size < this.capacity);
    if (!shard) {
      shard = this.create();
      this.#open.add(shard);
    }
    this.#of.set(key, shard);
    return shard;
  }

  /** The caller has removed the key from its shard. */
  release(key: string): void {
    const shard = this.#of.get(key);
    this.#of.delete(key);
    if (!shard || shard.size > 0) return;
    this.#open.delete(shard);
    const closing = shard.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async close(): Promise<void> {
    await Promise.all([...[...this.#open].map((shard) => shard.close()), ...this.#closing]);
    this.#open.clear();
    this.#of.clear();
  }
}
