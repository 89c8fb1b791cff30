import type { Bus } from '../../bus/index.js';
import { type Settings, untilAborted, withTimeout } from '../../core/index.js';
import { openBusReadOnly } from '../service/instance.js';
import { findReadOnly, type ReadOnly } from '../service/read-only.js';
import { lagOf } from '../status/lag.js';
import { freshness, type TableSize, tableSizes } from '../status/tables.js';
import type { TableLine } from './status-view.js';

/** What has been recorded so far; undefined figures are currently unknown. */
export interface Figures {
  readonly tables: readonly TableLine[];
  readonly waiting: number | undefined;
  readonly newestSeconds: number | undefined;
  readonly deadLetters: number | undefined;
}

/** The figures that ClickHouse has. */
type Recorded = Omit<Figures, 'waiting'>;

/** Number of samples over which rates are computed: rows arrive in batches, so a single interval has none or many. */
const RATE_SAMPLES = 5;

/** How long `read` waits for the log, and for ClickHouse, milliseconds. */
const TIMEOUT_MS = 2000;

/**
 * Reads the figures of a running instance over connections that stay open. Without a response in time only the numbers of
 * rows remain: the other figures are undefined, and the rates 0, until the next read.
 */
export class Monitor {
  #bus: Bus | undefined;
  #warehouse: ReadOnly | undefined;
  /** Rows by table, the oldest sample first. */
  #samples: { readonly at: number; readonly rows: ReadonlyMap<string, number> }[] = [];
  #tables: readonly TableLine[] = [];
  #reading: { waiting?: Promise<number> | undefined; recorded?: Promise<Recorded | undefined> | undefined } = {};

  constructor(
    private readonly settings: Settings,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  /** Its connection to ClickHouse, once it exists. */
  get warehouse(): ReadOnly | undefined {
    return this.#warehouse;
  }

  /** Rejects when the signal is aborted. */
  async read(signal: AbortSignal): Promise<Figures> {
    const reading = this.#reading;
    reading.waiting ??= this.#waiting().finally(() => {
      reading.waiting = undefined;
    });
    reading.recorded ??= this.#recorded().finally(() => {
      reading.recorded = undefined;
    });
    const both = Promise.all([this.#inTime(reading.waiting), this.#inTime(reading.recorded)]);
    const [waiting, recorded] = await untilAborted(both, signal);
    this.#tables = recorded?.tables ?? this.#tables.map((table) => ({ ...table, perSecond: 0 }));
    const { newestSeconds, deadLetters } = recorded ?? {};
    return { tables: this.#tables, waiting, newestSeconds, deadLetters };
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#bus?.close(), this.#warehouse?.close()]);
  }

  /** Undefined when it fails or takes too long; the next read then waits for it again. */
  async #inTime<T>(reading: Promise<T>): Promise<T | undefined> {
    let result: T | undefined;
    const read = reading.then((value) => {
      result = value;
    });
    await withTimeout(this.timeoutMs, read);
    return result;
  }

  async #waiting(): Promise<number> {
    this.#bus ??= openBusReadOnly(this.settings);
    if (!this.#bus) return 0;
    const lags = await lagOf(this.#bus, this.settings.group);
    return lags.reduce((sum, { lag }) => sum + lag, 0);
  }

  async #recorded(): Promise<Recorded | undefined> {
    this.#warehouse ??= await findReadOnly(this.settings);
    if (!this.#warehouse) return undefined;
    const { client } = this.#warehouse;
    const [sizes, fresh] = await Promise.all([
      tableSizes(client, this.settings.database),
      freshness(client, this.settings.database),
    ]);
    const now = performance.now();
    const oldest = this.#samples[0];
    const seconds = (now - (oldest?.at ?? 0)) / 1000;
    const tables = sizes.filter(isRecord).map(({ name, rows }) => {
      const before = oldest?.rows.get(name) ?? rows;
      return { name, rows, perSecond: Math.max(0, rows - before) / seconds };
    });
    const sample = { at: now, rows: new Map(sizes.map(({ name, rows }) => [name, rows])) };
    this.#samples = [...this.#samples, sample].slice(-RATE_SAMPLES);
    const deadLetters = sizes.find(({ name }) => name === 'dead_letters')?.rows;
    return { tables, newestSeconds: fresh.newestSeconds, deadLetters };
  }
}

/** Tables about the database itself: the list of migrations, and its identity. */
const OWN_TABLES: ReadonlySet<string> = new Set(['applied_sql', 'database_identity']);

/** Whether the table is append-only: not merged or derived by ClickHouse, and not about the database itself. */
export function isRecord({ name, rows, merges }: TableSize): boolean {
  return rows > 0 && !merges && !OWN_TABLES.has(name);
}
