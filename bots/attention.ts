import type { Random } from '../core/index.js';
import type { Quote } from './market.js';

/**
 * How often an event is traded, a weight that follows from its ID: a few events get most of the trading.
 */
export function attentionOf(eventId: string): number {
  return 1 / (0.04 + numberIn(eventId) / 0x1_0000_0000);
}

/** The first 32 bits of an ID, a UUID. */
export function numberIn(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16);
}

/** A random market, weighted by attention; undefined when there is none. */
export function pickMarket(markets: readonly Quote[], random: Random): Quote | undefined {
  let sum = 0;
  for (const market of markets) sum += market.attention;
  let left = random.next() * sum;
  for (const market of markets) {
    left -= market.attention;
    if (left < 0) return market;
  }
  return markets.at(-1);
}
