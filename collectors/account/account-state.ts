import { z } from 'zod';
import type { Logger } from '../../core/index.js';
import { StateFile } from '../state-file.js';

/** Histories that are read from the front up to what is known. */
export const HISTORIES = ['orders', 'trades', 'transactions', 'activity'] as const;
export type HistoryName = (typeof HISTORIES)[number];

const orderSchema = z.object({
  order: z.string(),
  market: z.string().nullable(),
  /** What is left of it, 10^-12 shares as text; null when the record did not say. */
  remaining: z.string().nullable(),
});
export type SavedOrder = z.infer<typeof orderSchema>;

const schema = z.object({
  version: z.literal(1),
  log: z.string(),
  user: z.string().nullable(),
  known: z.partialRecord(z.enum(HISTORIES), z.array(z.string())),
  openOrders: z.array(orderSchema),
  tpslAssets: z.array(z.string()),
  pending: z.array(z.string()),
});

/**
 * What a collector knows of an account that a restart need not fetch again, in a small file: everything in it was
 * acknowledged by the bus before. It holds for one bus alone: with another log it is forgotten.
 */
export class AccountState {
  /** The account's ID at the exchange, once a record has told it. */
  user: string | null = null;
  readonly known = new Map<HistoryName, readonly string[]>();
  openOrders: readonly SavedOrder[] = [];
  /** Outcome assets that had TP/SL orders when they were last asked for. */
  tpslAssets: readonly string[] = [];
  /** Transactions that may still change. */
  readonly pending = new Set<string>();
  #log = '';
  readonly #file: StateFile<z.infer<typeof schema>>;

  constructor(path: string, log: Logger) {
    const without = 'histories of the account are read from the beginning';
    this.#file = new StateFile({ path, schema, content: () => this.#content(), log, without });
  }

  /** @param log identity of the log that account records go to */
  async load(log: string): Promise<void> {
    this.#log = log;
    const found = await this.#file.load();
    if (!found || found.log !== log) return;
    this.user = found.user;
    for (const name of HISTORIES) {
      const ids = found.known[name];
      if (ids) this.known.set(name, ids);
    }
    this.openOrders = found.openOrders;
    this.tpslAssets = found.tpslAssets;
    for (const id of found.pending) this.pending.add(id);
  }

  changed(): void {
    this.#file.changed();
  }

  /** Writes what has changed; resolves when it is in place. */
  flush(): Promise<void> {
    return this.#file.flush();
  }

  #content(): z.infer<typeof schema> {
    return {
      version: 1,
      log: this.#log,
      user: this.user,
      known: Object.fromEntries([...this.known].map(([name, ids]) => [name, [...ids]])),
      openOrders: [...this.openOrders],
      tpslAssets: [...this.tpslAssets],
      pending: [...this.pending],
    };
  }
}
