import { z } from 'zod';
import type { Logger } from '../../core/index.js';
import { StateFile } from '../state-file.js';

const orderSchema = z.object({
  orderId: z.string(),
  market: z.string().nullable(),
  /** Remaining quantity, 10^-12 shares as text; null when the record did not have it. */
  remaining: z.string().nullable(),
});
export type SavedOrder = z.infer<typeof orderSchema>;

const schema = z.object({
  version: z.literal(1),
  /** ID of the topic that account records go to. */
  log: z.string(),
  userId: z.string().nullable(),
  checkpoints: z.record(z.string(), z.array(z.string())),
  openOrders: z.array(orderSchema),
  tpslAssets: z.array(z.string()),
  pendingTransactions: z.array(z.string()),
});

/**
 * The state of an account's polls, in a small file, so that a restarted collector does not fetch everything again. All of
 * it was acknowledged by the bus before it was stored. It is valid for one bus: with another log it is ignored.
 */
export class AccountState {
  /** The account's ID at the exchange, once a record has contained it. */
  userId: string | null = null;
  /** Operation → IDs of a `HistoryCheckpoint`. */
  readonly checkpoints = new Map<string, readonly string[]>();
  /** Outcome assets that had TP/SL orders at the latest poll. */
  tpslAssets: readonly string[] = [];
  /** Transactions that may still change. */
  readonly pendingTransactions = new Set<string>();
  #openOrders: readonly SavedOrder[] = [];
  #log = '';
  readonly #file: StateFile<z.infer<typeof schema>>;

  constructor(path: string, log: Logger) {
    const without = 'histories of the account are read from the beginning';
    this.#file = new StateFile({ path, schema, content: () => this.#content(), log, without });
  }

  /** @param log ID of the topic that account records go to */
  async load(log: string): Promise<void> {
    this.#log = log;
    const found = await this.#file.load();
    if (!found || found.log !== log) return;
    this.userId = found.userId;
    for (const [operation, ids] of Object.entries(found.checkpoints)) this.checkpoints.set(operation, ids);
    this.#openOrders = found.openOrders;
    this.tpslAssets = found.tpslAssets;
    for (const id of found.pendingTransactions) this.pendingTransactions.add(id);
  }

  get openOrders(): readonly SavedOrder[] {
    return this.#openOrders;
  }

  set openOrders(orders: readonly SavedOrder[]) {
    if (JSON.stringify(orders) === JSON.stringify(this.#openOrders)) return;
    this.#openOrders = orders;
    this.changed();
  }

  changed(): void {
    this.#file.changed();
  }

  /** Writes pending changes; resolves when the file is replaced. */
  flush(): Promise<void> {
    return this.#file.flush();
  }

  #content(): z.infer<typeof schema> {
    return {
      version: 1,
      log: this.#log,
      userId: this.userId,
      checkpoints: Object.fromEntries([...this.checkpoints].map(([operation, ids]) => [operation, [...ids]])),
      openOrders: [...this.#openOrders],
      tpslAssets: [...this.tpslAssets],
      pendingTransactions: [...this.pendingTransactions],
    };
  }
}
