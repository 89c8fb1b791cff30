import { randomUUID } from 'node:crypto';
import { decodeOrderBookMessage } from '../client/index.js';
import type { BenchFigure } from './bench.js';

const DISTINCT = 1000;

/** The order book decoder alone, on frames that are parsed already, and with their JSON.parse. */
export async function benchClientDecode(quick: boolean): Promise<BenchFigure[]> {
  const figures: BenchFigure[] = [];
  for (const [entries, frames] of [
    [1, 2_000_000],
    [10, 400_000],
  ] as const) {
    const rounds = Math.ceil((quick ? frames / 100 : frames) / DISTINCT);
    const texts = Array.from({ length: DISTINCT }, (_, n) => frameText(n, entries));
    const bodies = texts.map((text): unknown => JSON.parse(text));
    const name = `${entries === 1 ? 'single-entry' : `${entries}-entry`} frames`;
    figures.push(
      { name: `${name}, decoded`, ...measure(rounds, entries, (n) => bodies[n]) },
      { name: `${name}, parsed and decoded`, ...measure(rounds, entries, (n) => JSON.parse(texts[n] ?? '')) },
    );
  }
  return figures;
}

function measure(rounds: number, entries: number, body: (n: number) => unknown): { value: number; unit: string } {
  const start = performance.now();
  let prices = 0;
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < DISTINCT; n++) {
      const message = decodeOrderBookMessage(body(n));
      if (message.type === 'prices') prices += message.prices.length;
    }
  }
  const seconds = (performance.now() - start) / 1000;
  if (prices !== rounds * DISTINCT * entries) throw new Error('decoded something else than was made');
  return { value: Math.round((rounds * DISTINCT) / seconds), unit: 'frames/s' };
}

function frameText(n: number, entries: number): string {
  const cents = 2 + (n % 96);
  const entry = () => ({ o: randomUUID(), c: cents / 100, b: (cents - 1) / 100, a: (cents + 1) / 100 });
  return JSON.stringify({ t: 'PRICES_DATA_DELTA', e: randomUUID(), d: Array.from({ length: entries }, entry) });
}
