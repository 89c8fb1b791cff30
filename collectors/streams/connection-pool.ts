/** A connection that carries a bounded number of subscriptions. */
export interface PooledConnection {
  readonly size: number;
  close(): Promise<void>;
}

/** Distributes subscriptions over connections: each goes to the first with capacity; connections without any are closed. */
export class ConnectionPool<C extends PooledConnection> {
  readonly #byKey = new Map<string, C>();
  readonly #open = new Set<C>();
  readonly #closing = new Set<Promise<void>>();

  constructor(
    private readonly capacity: number,
    private readonly create: () => C,
  ) {}

  get(key: string): C | undefined {
    return this.#byKey.get(key);
  }

  /** Assigns the key to a connection; the caller subscribes there. */
  assign(key: string): C {
    const existing = this.#byKey.get(key);
    if (existing) return existing;
    let connection = [...this.#open].find(({ size }) => size < this.capacity);
    if (!connection) {
      connection = this.create();
      this.#open.add(connection);
    }
    this.#byKey.set(key, connection);
    return connection;
  }

  /** Call when the key was unsubscribed. */
  release(key: string): void {
    const connection = this.#byKey.get(key);
    this.#byKey.delete(key);
    if (!connection || connection.size > 0) return;
    this.#open.delete(connection);
    const closing = connection.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async close(): Promise<void> {
    await Promise.all([...[...this.#open].map((connection) => connection.close()), ...this.#closing]);
    this.#open.clear();
    this.#byKey.clear();
  }
}
