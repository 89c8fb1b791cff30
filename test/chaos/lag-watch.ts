import { setTimeout as delay } from 'node:timers/promises';
import type { Bus } from '../../bus/index.js';

const GROUP = 'chancery-transform';
const EVERY_MS = 250;

interface Sample {
  /** Before and after the ends were read. */
  readonly from: number;
  readonly at: number;
  /** End of each partition. */
  readonly ends: readonly number[];
}

/** Measures the age of a topic's oldest unwritten record. */
export class LagWatch {
  readonly #samples: Sample[] = [];
  readonly #stop = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #measured = { ms: Infinity, writtenUntil: 0 };

  constructor(
    private readonly bus: Bus,
    private readonly topic: string,
  ) {}

  start(): void {
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }

  /** The last measured lag, milliseconds. */
  get nowMs(): number {
    return this.#measured.ms;
  }

  /** A time of the monotonic clock: everything that was on the topic then is written. */
  get writtenUntil(): number {
    return this.#measured.writtenUntil;
  }

  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const at = performance.now();
      const committed = new Map<number, number>();
      for (const { topic, partition, offset } of await this.bus.committed(GROUP)) {
        if (topic === this.topic) committed.set(partition, offset);
      }
      const from = performance.now();
      const infos = (await this.bus.partitions()).filter(({ topic }) => topic === this.topic);
      const ends = infos.sort((a, b) => a.partition - b.partition).map(({ end }) => end);
      this.#samples.push({ from, at: performance.now(), ends });
      // An uncommitted record was appended before the first measurement that saw it.
      const first = this.#samples.findIndex(({ ends: seen }) => seen.some((end, p) => end > (committed.get(p) ?? 0)));
      const written = this.#samples.splice(0, first < 0 ? this.#samples.length : first);
      const oldest = this.#samples[0]?.at ?? at;
      this.#measured = {
        ms: Math.round(at - oldest),
        writtenUntil: written.at(-1)?.from ?? this.#measured.writtenUntil,
      };
      await delay(EVERY_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }
}
