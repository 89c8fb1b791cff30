import { randomUUID } from 'node:crypto';
import { decodeOrderBookMessage } from '../client/index.js';
import { priceEntrySchema, pricesMessageSchema } from '../client/wire/order-book-stream.js';
import type { BenchFigure } from './bench.js';

const DISTINCT = 1000;

/** Returns the number of prices in a parsed frame. */
type Decoder = (body: unknown) => number;

/** The order book decoder and the equivalent zod schemas, on parsed frames and including JSON.parse. */
export async function benchClientDecode(quick: boolean): Promise<BenchFigure[]> {
  const figures: BenchFigure[] = [];
  for (const [entries, frames] of [
    [1, 500_000],
    [10, 100_000],
  ] as const) {
    const rounds = Math.ceil((quick ? frames / 100 : frames) / DISTINCT);
    const texts = Array.from({ length: DISTINCT }, (_, n) => frameText(n, entries));
    const bodies = texts.map((text): unknown => JSON.parse(text));
    const name = `${entries === 1 ? 'single-entry' : `${entries}-entry`} frames`;
    for (const [by, decode] of [
      ['decoder', byDecoder],
      ['schemas', bySchemas],
    ] as const) {
      figures.push(
        { name: `${name}, ${by}`, ...measure(rounds, entries, (n) => decode(bodies[n])) },
        { name: `${name}, parsed, ${by}`, ...measure(rounds, entries, (n) => decode(JSON.parse(texts[n] ?? ''))) },
      );
    }
  }
  return figures;
}

const byDecoder: Decoder = (body) => {
  const message = decodeOrderBookMessage(body);
  return message.type === 'prices' ? message.prices.length : 0;
};

const bySchemas: Decoder = (body) => {
  const prices: object[] = [];
  for (const value of pricesMessageSchema.parse(body).d) {
    const entry = priceEntrySchema.safeParse(value);
    if (!entry.success) continue;
    const { o, c, b, a } = entry.data;
    prices.push({ marketId: o, chance: c, bestBid: b, bestAsk: a });
  }
  return prices.length;
};

function measure(rounds: number, entries: number, decoded: (n: number) => number): { value: number; unit: string } {
  const start = performance.now();
  let prices = 0;
  for (let round = 0; round < rounds; round++) for (let n = 0; n < DISTINCT; n++) prices += decoded(n);
  const seconds = (performance.now() - start) / 1000;
  if (prices !== rounds * DISTINCT * entries) throw new Error('the decoded prices are not those that were generated');
  return { value: Math.round((rounds * DISTINCT) / seconds), unit: 'frames/s' };
}

function frameText(n: number, entries: number): string {
  const cents = 2 + (n % 96);
  const entry = () => ({ o: randomUUID(), c: cents / 100, b: (cents - 1) / 100, a: (cents + 1) / 100 });
  return JSON.stringify({ t: 'PRICES_DATA_DELTA', e: randomUUID(), d: Array.from({ length: entries }, entry) });
}
