import { setTimeout as sleep } from 'node:timers/promises';
import type { BusRecord, EmbeddedBus } from '../bus/index.js';
import { encodeEnvelope, TOPICS } from '../core/index.js';
import type { BenchFigure } from './bench.js';
import { WarehouseRig } from './warehouse-rig.js';

const EVENTS = 40;
const MARKETS_PER_EVENT = 12;
const PER_APPEND = 1000;
const LOOK_MS = 5;

interface Load {
  readonly name: string;
  readonly entries: number;
  readonly records: number;
  readonly keepBodies: boolean;
}

/**
 * Order book records that are in the embedded log, until their rows are in the answer of a query: transforms, the whole
 * exactly-once protocol, fsync on. The worker has run before, as it has on a machine that records.
 */
export async function benchTransform(quick: boolean): Promise<BenchFigure[]> {
  const [single, ten] = quick ? [30_000, 6_000] : [1_000_000, 250_000];
  const loads: Load[] = [
    { name: 'single-entry frames, bodies off', entries: 1, records: single, keepBodies: false },
    { name: '10-entry frames, bodies off', entries: 10, records: ten, keepBodies: false },
    { name: 'single-entry frames, bodies on', entries: 1, records: single, keepBodies: true },
    { name: '10-entry frames, bodies on', entries: 10, records: ten, keepBodies: true },
  ];
  const rig = new WarehouseRig();
  const figures: BenchFigure[] = [];
  try {
    await rig.start();
    const frames = new FrameSource();
    for (const load of loads) {
      const bus = await rig.openBus(load.name.replace(/\W+/g, '-'));
      try {
        await fill(bus, frames, { ...load, records: Math.round(load.records / 20) });
        await measure(rig, bus, load, load.records / 20);
        await fill(bus, frames, load);
        const seconds = await measure(rig, bus, load, load.records);
        figures.push({ name: load.name, value: Math.round((load.records * load.entries) / seconds), unit: 'ticks/s' });
      } finally {
        await bus.close();
      }
    }
  } finally {
    await rig.close();
  }
  return figures;
}

/** Starts a worker on what is in the log and answers the seconds until all of it is visible. */
async function measure(rig: WarehouseRig, bus: EmbeddedBus, load: Load, records: number): Promise<number> {
  const { keepBodies, entries } = load;
  const [ticks, raw] = await Promise.all([rig.count('price_ticks'), rig.count('raw_records')]);
  const worker = rig.worker(bus, { keepBodies });
  const begin = performance.now();
  await worker.start(new AbortController().signal);
  while ((await rig.count('price_ticks')) < ticks + records * entries) {
    await Promise.race([sleep(LOOK_MS), worker.failed]);
  }
  while ((await rig.count('raw_records')) < raw + records) await sleep(LOOK_MS);
  const seconds = (performance.now() - begin) / 1000;
  await worker.stop();
  return seconds;
}

async function fill(bus: EmbeddedBus, frames: FrameSource, load: Load): Promise<void> {
  for (let done = 0; done < load.records; done += PER_APPEND) {
    const records: BusRecord[] = [];
    for (let i = done; i < Math.min(load.records, done + PER_APPEND); i++) records.push(frames.next(load.entries));
    await bus.append(TOPICS.orderBook, records);
  }
}

/** Frames as the exchange's load generator makes them: a random walk in cents, market by market. */
class FrameSource {
  readonly #sid = '6f1c7f2e-0d3b-4c55-9a7e-2f4f6f0b9a11';
  readonly #reqJson = '{"stream":"order-book","connection":"0e9d5d0c-6f0d-4d55-8a11-6a2f3b7c9d10"}';
  readonly #events = Array.from({ length: EVENTS }, (_, event) => ({
    id: uuid(1, event),
    markets: Array.from({ length: MARKETS_PER_EVENT }, (_, market) => ({ id: uuid(2 + event, market), cents: 50 })),
  }));
  #n = 0;
  #at = Date.UTC(2026, 0, 1) * 1000;
  #random = 1;

  next(entries: number): BusRecord {
    const event = this.#events[this.#below(EVENTS)];
    if (!event) throw new RangeError('no event');
    const first = this.#below(MARKETS_PER_EVENT);
    const d = Array.from({ length: entries }, (_, i) => {
      const market = event.markets[(first + i) % MARKETS_PER_EVENT];
      if (!market) throw new RangeError('no market');
      market.cents = Math.min(98, Math.max(2, market.cents + this.#below(3) - 1));
      const { id, cents } = market;
      return { o: id, c: cents / 100, b: (cents - 1) / 100, a: (cents + 1) / 100 };
    });
    this.#n += 1;
    this.#at += this.#below(400);
    const bodyJson = JSON.stringify({ t: 'PRICES_DATA_DELTA', e: event.id, d });
    const fields = { kind: 'order-book.frame', sid: this.#sid, reqJson: this.#reqJson } as const;
    return { key: event.id, value: Buffer.from(encodeEnvelope({ ...fields, n: this.#n, at: this.#at, bodyJson })) };
  }

  #below(bound: number): number {
    this.#random = (Math.imul(this.#random, 1_103_515_245) + 12_345) >>> 0;
    return (this.#random >>> 8) % bound;
  }
}

function uuid(group: number, number: number): string {
  const hex = (value: number, length: number) => value.toString(16).padStart(length, '0');
  return `${hex(group * 2_654_435_761, 12).slice(-8)}-0000-4000-8000-${hex(number * 40_503 + group, 12)}`;
}
