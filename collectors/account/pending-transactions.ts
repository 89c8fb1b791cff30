import type { Transaction } from '../../client/index.js';

/** Final statuses of transactions. */
const FINAL_STATUSES = ['COMPLETED', 'SUCCESS', 'FAILED', 'CANCELLED', 'CANCELED', 'REJECTED', 'EXPIRED'];

/** Transactions that may still change: every walk visits them again, regardless of their age. */
export class PendingTransactions {
  #notVisited: Set<string> = new Set();
  readonly #visited = new Map<string, 'pending' | 'final'>();

  /** @param ids of the pending transactions; `endWalk` changes it */
  constructor(private readonly ids: Set<string>) {}

  startWalk(): void {
    this.#notVisited = new Set(this.ids);
    this.#visited.clear();
  }

  visit({ transactionId, status }: Transaction): void {
    const isFinal = status !== null && FINAL_STATUSES.includes(status.toUpperCase());
    this.#notVisited.delete(transactionId);
    this.#visited.set(transactionId, isFinal ? 'final' : 'pending');
  }

  get allVisited(): boolean {
    return this.#notVisited.size === 0;
  }

  /**
   * Call when all visited records are durable. Returns whether the set has changed.
   * @param complete whether the walk was complete: then a transaction it did not visit no longer exists
   */
  endWalk(complete: boolean): boolean {
    const before = [...this.ids].join();
    for (const [id, state] of this.#visited) {
      if (state === 'final') this.ids.delete(id);
      else this.ids.add(id);
    }
    if (complete) for (const id of this.#notVisited) this.ids.delete(id);
    return [...this.ids].join() !== before;
  }
}
