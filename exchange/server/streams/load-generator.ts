import { Random } from '../../../core/index.js';
import type { ExchangeCore } from '../../engine/index.js';
import type { OrderBookStream } from './order-book-stream.js';

const TICK_MS = 5;
/** How often new subscriptions are looked for. */
const REFRESH_MS = 200;
/** What could not be sent in time is made up for, but never more than this much of it at once. */
const MAX_CATCH_UP_MS = 250;
const MIN_CENTS = 2;
const MAX_CENTS = 98;

interface Walk {
  readonly eventId: string;
  readonly marketId: string;
  /** The chance, in cents; bid and ask are one cent away from it. */
  cents: number;
  frames: number;
}

interface LoadCounters {
  readonly framesPerSecond: number;
  /** Frames made since the start: one delta each, sent to every subscriber of its event. */
  readonly sent: number;
  /** Frames that fell due while the process was too busy, and were given up. */
  readonly skipped: number;
  /** Frames and the last quote per market. */
  readonly markets: readonly {
    readonly eventId: string;
    readonly marketId: string;
    readonly frames: number;
    readonly c: number;
    readonly b: number;
    readonly a: number;
  }[];
}

/**
 * Makes the order book stream carry a number of single-entry deltas per second: a random walk, market by market in
 * turn, over the open markets of the events that somebody is subscribed to (nobody: nothing is sent or counted). The
 * books know nothing of it, so these quotes are not in the truth; `counters` says how many frames each market got.
 */
export class LoadGenerator {
  #walks = new Map<string, Walk>();
  /** Whose turn it is, one after another. */
  #turns: readonly Walk[] = [];
  #turnsUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastTick = 0;
  #owed = 0;
  #sent = 0;
  #skipped = 0;
  #next = 0;
  readonly #random: Random;

  constructor(
    private readonly core: Pick<ExchangeCore, 'event' | 'on'>,
    private readonly stream: Pick<OrderBookStream, 'subscribedEvents' | 'publishGenerated'>,
    private framesPerSecond: number,
    seed: number,
  ) {
    this.#random = new Random(seed, 'load');
  }

  start(): void {
    this.core.on('marketResolved', () => {
      this.#turnsUntil = 0;
    });
    this.setRate(this.framesPerSecond);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  setRate(framesPerSecond: number): void {
    this.framesPerSecond = framesPerSecond;
    this.stop();
    this.#owed = 0;
    this.#lastTick = performance.now();
    if (framesPerSecond > 0) this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  counters(): LoadCounters {
    const markets = [...this.#walks.values()].map(({ eventId, marketId, frames, cents }) => {
      const { chance, bestBid, bestAsk } = quoteAt(marketId, cents);
      return { eventId, marketId, frames, c: chance, b: bestBid, a: bestAsk };
    });
    return { framesPerSecond: this.framesPerSecond, sent: this.#sent, skipped: this.#skipped, markets };
  }

  #tick(): void {
    const now = performance.now();
    this.#owed += ((now - this.#lastTick) * this.framesPerSecond) / 1000;
    this.#lastTick = now;
    const most = Math.max(1, (MAX_CATCH_UP_MS * this.framesPerSecond) / 1000);
    if (now >= this.#turnsUntil) {
      this.#turns = this.#openWalks();
      this.#turnsUntil = now + REFRESH_MS;
    }
    if (this.#turns.length === 0) {
      this.#owed = 0;
      return;
    }
    if (this.#owed > most) {
      this.#skipped += Math.floor(this.#owed - most);
      this.#owed = most;
    }
    for (; this.#owed >= 1; this.#owed -= 1) {
      const walk = this.#turns[this.#next++ % this.#turns.length];
      if (walk) this.#step(walk);
    }
  }

  #step(walk: Walk): void {
    const up = this.#random.next() < 0.5;
    walk.cents += (up && walk.cents < MAX_CENTS) || walk.cents <= MIN_CENTS ? 1 : -1;
    if (!this.stream.publishGenerated(walk.eventId, quoteAt(walk.marketId, walk.cents))) return;
    walk.frames += 1;
    this.#sent += 1;
  }

  #openWalks(): Walk[] {
    const walks: Walk[] = [];
    for (const eventId of this.stream.subscribedEvents()) {
      for (const market of this.core.event(eventId)?.markets ?? []) {
        if (market.resolved) continue;
        const known = this.#walks.get(market.marketId);
        const cents = Math.min(MAX_CENTS, Math.max(MIN_CENTS, Math.round(market.chance * 100)));
        const walk = known ?? { eventId, marketId: market.marketId, cents, frames: 0 };
        if (!known) this.#walks.set(market.marketId, walk);
        walks.push(walk);
      }
    }
    return walks;
  }
}

const quoteAt = (marketId: string, cents: number) => ({
  marketId,
  chance: cents / 100,
  bestBid: (cents - 1) / 100,
  bestAsk: (cents + 1) / 100,
});
