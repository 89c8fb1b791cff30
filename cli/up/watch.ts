import type { Bus } from '../../bus/index.js';
import { type Settings, systemClock } from '../../core/index.js';
import { lookAtBus } from '../parts/instance.js';
import { findReadOnly, type ReadOnly } from '../parts/read-only.js';
import { lagOf } from '../status/lag.js';
import { freshness, type TableSize, tableSizes } from '../status/tables.js';
import type { TableLine } from './board.js';

/** What was recorded so far. Undefined: could not be told at this moment. */
export interface Figures {
  readonly tables: readonly TableLine[];
  readonly waiting: number | undefined;
  readonly newestSeconds: number | undefined;
  readonly deadLetters: number | undefined;
}

const NOTHING: Figures = { tables: [], waiting: undefined, newestSeconds: undefined, deadLetters: undefined };

/** Rates are those of the last looks: rows come in batches, so two looks alone would tell of none or of many. */
const RATE_LOOKS = 5;

/** How long the screen waits for figures, milliseconds. */
const PATIENCE_MS = 2000;

/** Looks at an instance again and again, over connections that it keeps; what fails is left out until next time. */
export class Watch {
  #bus: Bus | undefined;
  #warehouse: ReadOnly | undefined;
  /** Rows by table at the last looks, the oldest first. */
  #looks: { readonly at: number; readonly rows: ReadonlyMap<string, number> }[] = [];
  #last = NOTHING;
  #looking: Promise<void> | undefined;

  constructor(private readonly settings: Settings) {}

  /** The connection it looks through, once there is one. */
  get warehouse(): ReadOnly | undefined {
    return this.#warehouse;
  }

  /** The newest figures; those of before, when nobody answers in time. Rejects when the signal is aborted. */
  async look(signal: AbortSignal): Promise<Figures> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined;
    });
    await Promise.race([this.#looking, systemClock.sleep(PATIENCE_MS, signal)]);
    return this.#last;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#bus?.close(), this.#warehouse?.close()]);
  }

  async #lookNow(): Promise<void> {
    const [waiting, recorded] = await Promise.all([
      this.#waiting().catch(() => undefined),
      this.#recorded().catch(() => undefined),
    ]);
    this.#last = {
      tables: recorded?.tables ?? this.#last.tables.map((table) => ({ ...table, perSecond: 0 })),
      waiting,
      newestSeconds: recorded?.freshness.newestSeconds,
      deadLetters: recorded?.deadLetters,
    };
  }

  async #waiting(): Promise<number> {
    this.#bus ??= lookAtBus(this.settings);
    if (!this.#bus) return 0;
    const lags = await lagOf(this.#bus, this.settings.group);
    return lags.reduce((sum, { lag }) => sum + lag, 0);
  }

  async #recorded() {
    this.#warehouse ??= await findReadOnly(this.settings);
    if (!this.#warehouse) return undefined;
    const { client } = this.#warehouse;
    const [sizes, fresh] = await Promise.all([
      tableSizes(client, this.settings.database),
      freshness(client, this.settings.database),
    ]);
    const now = performance.now();
    const oldest = this.#looks[0];
    const seconds = (now - (oldest?.at ?? 0)) / 1000;
    const tables = sizes.filter(isRecord).map(({ name, rows }) => {
      const before = oldest?.rows.get(name) ?? rows;
      return { name, rows, perSecond: Math.max(0, rows - before) / seconds };
    });
    const look = { at: now, rows: new Map(sizes.map(({ name, rows }) => [name, rows])) };
    this.#looks = [...this.#looks, look].slice(-RATE_LOOKS);
    const deadLetters = sizes.find(({ name }) => name === 'dead_letters')?.rows;
    return { tables, freshness: fresh, deadLetters };
  }
}

/** Tables of what arrived and only grow; not those that ClickHouse merges or derives, nor the ledger of migrations. */
export function isRecord({ name, rows, merges }: TableSize): boolean {
  return rows > 0 && !merges && name !== 'applied_sql';
}
