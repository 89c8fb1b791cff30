import { setTimeout as delay } from 'node:timers/promises';
import type { Bus } from '../../bus/index.js';

const GROUP = 'chancery-transform';
const EVERY_MS = 250;

interface Sample {
  readonly at: number;
  /** End of each partition. */
  readonly ends: readonly number[];
}

/** Measures the age of a topic's oldest unwritten record. */
export class LagWatch {
  readonly #samples: Sample[] = [];
  readonly #stop = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #measured = { at: 0, ms: Infinity };

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

  /** The lag, if it was measured after that time of the monotonic clock; else Infinity. */
  since(moment: number): number {
    return this.#measured.at > moment ? this.#measured.ms : Infinity;
  }

  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const at = performance.now();
      const committed = new Map<number, number>();
      for (const { topic, partition, offset } of await this.bus.committed(GROUP)) {
        if (topic === this.topic) committed.set(partition, offset);
      }
      const infos = (await this.bus.partitions()).filter(({ topic }) => topic === this.topic);
      const ends = infos.sort((a, b) => a.partition - b.partition).map(({ end }) => end);
      this.#samples.push({ at: performance.now(), ends });
      // An uncommitted record was appended before the first measurement that saw it.
      const first = this.#samples.findIndex(({ ends: seen }) => seen.some((end, p) => end > (committed.get(p) ?? 0)));
      this.#samples.splice(0, first < 0 ? this.#samples.length : first);
      this.#measured = { at, ms: Math.round(at - (this.#samples[0]?.at ?? at)) };
      await delay(EVERY_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }
}
