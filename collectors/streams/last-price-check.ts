import type { Clock } from '../../core/index.js';

/** How long the two streams may differ, microseconds: each has delays of its own. */
const MAX_DIFFERENCE_MICROS = 2_000_000;
const CHECK_MS = 500;

interface MarketPrices {
  readonly eventId: string;
  /** Last price of the order book. */
  last: number | undefined;
  /** The newest chance on the chance stream. */
  chance: number | undefined;
  /** Since when they differ, Unix microseconds. */
  differentSince: number;
  /** Whether this difference was reported. */
  reported: boolean;
}

/**
 * Compares the last price of the order book with the chance stream, per market. A difference that lasts is reported once: it
 * is a reason to audit the order book, and nothing else, because an exchange may compute the chance in another way.
 */
export class LastPriceCheck {
  readonly #events = new Map<string, Map<string, MarketPrices>>();
  /** The markets whose prices differ. */
  readonly #different = new Set<MarketPrices>();
  readonly #timer: NodeJS.Timeout;

  /** @param onDifference called with the event of a market whose prices have differed for more than 2 s */
  constructor(
    private readonly clock: Clock,
    private readonly onDifference: (eventId: string) => void,
  ) {
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
  }

  onLast(eventId: string, marketId: string, last: number): void {
    const prices = this.#pricesOf(eventId, marketId);
    if (prices.last === last) return;
    prices.last = last;
    this.#compare(prices);
  }

  onChance(eventId: string, marketId: string, chance: number): void {
    const prices = this.#pricesOf(eventId, marketId);
    if (prices.chance === chance) return;
    prices.chance = chance;
    this.#compare(prices);
  }

  remove(eventId: string): void {
    for (const prices of this.#events.get(eventId)?.values() ?? []) this.#different.delete(prices);
    this.#events.delete(eventId);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #pricesOf(eventId: string, marketId: string): MarketPrices {
    let markets = this.#events.get(eventId);
    if (!markets) {
      markets = new Map();
      this.#events.set(eventId, markets);
    }
    let prices = markets.get(marketId);
    if (!prices) {
      prices = { eventId, last: undefined, chance: undefined, differentSince: 0, reported: false };
      markets.set(marketId, prices);
    }
    return prices;
  }

  #compare(prices: MarketPrices): void {
    const { last, chance } = prices;
    if (last === undefined || chance === undefined) return;
    if (last === chance) {
      this.#different.delete(prices);
    } else if (!this.#different.has(prices)) {
      prices.differentSince = this.clock.nowMicros();
      prices.reported = false;
      this.#different.add(prices);
    }
  }

  #check(): void {
    const before = this.clock.nowMicros() - MAX_DIFFERENCE_MICROS;
    for (const prices of this.#different) {
      if (prices.reported || prices.differentSince > before) continue;
      prices.reported = true;
      this.onDifference(prices.eventId);
    }
  }
}
