import type { Clock } from '../../../core/index.js';
import type { EventView, ExchangeCore, PriceChange } from '../../engine/index.js';
import type { ChanceStream } from './chance-stream.js';

/**
 * Feeds the chance stream: every change of a chance becomes a live point, and after every second with a change its last
 * value becomes an aggregated point, timed at the second's end.
 */
export class ChanceFeed {
  #last = new Map<string, number>();
  /** The last chance of each market that changed in the current second. */
  #changed = new Map<string, { eventId: string; chance: number }>();
  #second = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly core: Pick<ExchangeCore, 'event' | 'events' | 'on'>,
    private readonly stream: Pick<ChanceStream, 'publishLive' | 'publishAggregated'>,
    private readonly clock: Clock,
  ) {}

  start(): void {
    for (const event of this.core.events()) this.#remember(event);
    this.core.on('eventOpened', (event) => this.#remember(event));
    this.core.on('eventClosed', ({ eventId }) => {
      for (const market of this.core.event(eventId)?.markets ?? []) this.#last.delete(market.marketId);
    });
    this.core.on('price', (change) => this.#onChange(change));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#flush();
  }

  #remember(event: EventView): void {
    for (const market of event.markets) this.#last.set(market.marketId, market.chance);
  }

  #onChange({ eventId, marketId, chance, at }: PriceChange): void {
    if (this.#last.get(marketId) === chance) return;
    this.#last.set(marketId, chance);
    const second = Math.floor(at / 1e6);
    if (second !== this.#second) this.#flush();
    this.#second = second;
    this.#changed.set(marketId, { eventId, chance });
    this.stream.publishLive(eventId, marketId, { t: second, p: chance });
    this.#timer ??= setTimeout(() => this.#onTimer(), this.#msLeft());
  }

  #onTimer(): void {
    this.#timer = undefined;
    // Timers may fire a little early, and a change may have begun a new second meanwhile.
    if (this.#msLeft() > 0) this.#timer = setTimeout(() => this.#onTimer(), this.#msLeft());
    else this.#flush();
  }

  /** Milliseconds until the current second is over; 0 when it is. */
  #msLeft(): number {
    return Math.max(0, Math.ceil((this.#second + 1) * 1000 - this.clock.nowMs()));
  }

  #flush(): void {
    const point = { t: this.#second + 1 };
    for (const [marketId, { eventId, chance }] of this.#changed) {
      this.stream.publishAggregated(eventId, marketId, { ...point, p: chance });
    }
    this.#changed.clear();
  }
}
