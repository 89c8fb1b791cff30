import type { Event } from '../client/index.js';
import type { Clock } from '../core/index.js';
import type { EventList } from './polls/event-search-poll.js';

export interface EventHandlers {
  /** An event is open, or its markets have changed. */
  onOpen(event: Event): void;
  /** An event is no longer open, and its last data has had time to be received. */
  onClosed(eventId: string): void;
}

/** How long the last data of a closed event may take to be received, milliseconds. */
const LAST_DATA_MS = 2000;

/** Which events are open, from one event search to the next. */
export class OpenEvents {
  readonly #open = new Map<string, string>();
  readonly #closing = new Map<string, AbortController>();

  constructor(
    readonly handlers: EventHandlers,
    private readonly clock: Clock,
  ) {}

  get ids(): ReadonlySet<string> {
    return new Set(this.#open.keys());
  }

  /** Applies the result of a search. Only a complete one can close an event. */
  update({ events, complete }: EventList): void {
    for (const event of events) {
      const { eventId } = event;
      this.#closing.get(eventId)?.abort();
      this.#closing.delete(eventId);
      const markets = event.markets.map((m) => m.marketId).join(' ');
      if (this.#open.get(eventId) === markets) continue;
      this.#open.set(eventId, markets);
      this.handlers.onOpen(event);
    }
    if (!complete) return;
    const listed = new Set(events.map((event) => event.eventId));
    for (const eventId of this.#open.keys()) if (!listed.has(eventId)) this.#closeSoon(eventId);
  }

  stop(): void {
    for (const closing of this.#closing.values()) closing.abort();
  }

  #closeSoon(eventId: string): void {
    if (this.#closing.has(eventId)) return;
    const cancel = new AbortController();
    this.#closing.set(eventId, cancel);
    this.clock.sleep(LAST_DATA_MS, cancel.signal).then(
      () => {
        this.#closing.delete(eventId);
        this.#open.delete(eventId);
        this.handlers.onClosed(eventId);
      },
      () => undefined,
    );
  }
}
