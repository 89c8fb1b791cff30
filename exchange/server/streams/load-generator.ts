import { Random } from '../../../core/index.js';
import type { ExchangeCore } from '../../engine/index.js';
import type { OrderBookStream } from './order-book-stream.js';

const TICK_MS = 5;
/** How often subscriptions are read again. */
const REFRESH_MS = 200;
/** Late frames are caught up, but at most this much at once. */
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
  /** Frames generated since the start: one delta each, sent to every subscriber of its event. */
  readonly sent: number;
  /** Frames that were due while the process was busy and were skipped. */
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
 * Sends a number of single-entry deltas per second on the order book stream: a random walk per market, round-robin over
 * the open markets of events that have subscribers (without subscribers nothing is sent or counted). The quotes come from
 * no book, so they are not in the truth; `counters` has the number of frames per market.
 */
export class LoadGenerator {
  #walks = new Map<string, Walk>();
  /** The walks, served round-robin. */
  #turns: readonly Walk[] = [];
  #turnsUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastTick = 0;
  #due = 0;
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
    this.#due = 0;
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
    this.#due += ((now - this.#lastTick) * this.framesPerSecond) / 1000;
    this.#lastTick = now;
    const most = Math.max(1, (MAX_CATCH_UP_MS * this.framesPerSecond) / 1000);
    if (now >= this.#turnsUntil) {
      this.#turns = this.#openWalks();
      this.#turnsUntil = now + REFRESH_MS;
    }
    if (this.#turns.length === 0) {
      this.#due = 0;
      return;
    }
    if (this.#due > most) {
      this.#skipped += Math.floor(this.#due - most);
      this.#due = most;
    }
    for (; this.#due >= 1; this.#due -= 1) {
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
