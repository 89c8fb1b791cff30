import type { Bus, BusRecord } from '../bus/index.js';
import { encodeEnvelope, Random, TOPICS } from '../core/index.js';

const EVENTS = 40;
const MARKETS_PER_EVENT = 12;
const PER_APPEND = 1000;

/** Appends `count` order book records to the bus, each a frame with `entries` entries. */
export async function fillOrderBook(bus: Bus, frames: FrameSource, count: number, entries: number): Promise<void> {
  for (let done = 0; done < count; done += PER_APPEND) {
    const records: BusRecord[] = [];
    for (let i = done; i < Math.min(count, done + PER_APPEND); i++) records.push(frames.next(entries));
    await bus.append(TOPICS.orderBook, records);
  }
}

/** Frames like those of the exchange's load generator: a random walk in cents per market. */
export class FrameSource {
  readonly #sessionId = '6f1c7f2e-0d3b-4c55-9a7e-2f4f6f0b9a11';
  readonly #requestJson = '{"stream":"order-book","connection":"0e9d5d0c-6f0d-4d55-8a11-6a2f3b7c9d10"}';
  readonly #events = Array.from({ length: EVENTS }, (_, event) => ({
    id: uuid(1, event),
    markets: Array.from({ length: MARKETS_PER_EVENT }, (_, market) => ({ id: uuid(2 + event, market), cents: 50 })),
  }));
  #n = 0;
  #at = Date.UTC(2026, 0, 1) * 1000;
  readonly #random = new Random(1);

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
    const fields = { kind: 'order-book.frame', sessionId: this.#sessionId, requestJson: this.#requestJson } as const;
    return {
      key: event.id,
      value: Buffer.from(encodeEnvelope({ ...fields, sequence: this.#n, receivedAt: this.#at, bodyJson })),
    };
  }

  #below(bound: number): number {
    return this.#random.integer(0, bound - 1);
  }
}

function uuid(group: number, number: number): string {
  const hex = (value: number, length: number) => value.toString(16).padStart(length, '0');
  return `${hex(group * 2_654_435_761, 12).slice(-8)}-0000-4000-8000-${hex(number * 40_503 + group, 12)}`;
}
