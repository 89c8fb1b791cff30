import type { Random } from '../core/index.js';
import type { Quote } from './market.js';

/**
 * How much traders care about an event: a fixed share that its ID decides. A few events get most of the attention, and
 * most get little.
 */
export function attentionOf(eventId: string): number {
  return 1 / (0.04 + numberIn(eventId) / 0x1_0000_0000);
}

/** A number of 32 bits that an ID, a UUID, decides. */
export function numberIn(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16);
}

/** A market, busy ones more often; undefined when there is none. */
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
