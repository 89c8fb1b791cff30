import type { Event } from '../client/index.js';
import type { Clock } from '../core/index.js';
import type { EventList } from './polls/event-search-poll.js';

export interface EventHandlers {
  /** Called when an event is open or its markets have changed. */
  onOpen(event: Event): void;
  /** Called when an event has closed and its last data has had time to arrive. */
  onClosed(eventId: string): void;
}

/** Maximum delay of the last data of a closed event, milliseconds. */
const LAST_DATA_MS = 2000;

interface OpenEvent {
  /** Market IDs as one text. */
  readonly markets: string;
  /** When a search last listed it, `Clock.elapsedMs`. */
  readonly listedAtMs: number;
}

/** Tracks the open events from one event search to the next. */
export class OpenEvents {
  readonly #open = new Map<string, OpenEvent>();
  readonly #closing = new Map<string, AbortController>();

  constructor(
    readonly handlers: EventHandlers,
    private readonly clock: Clock,
  ) {}

  get ids(): ReadonlySet<string> {
    return new Set(this.#open.keys());
  }

  /**
   * Applies the result of a search. Only a complete one can close an event, and only one that was listed before the search
   * began: an event that opens meanwhile may be on a page that was already read.
   */
  update({ events, complete, startedAtMs }: EventList): void {
    const listedAtMs = this.clock.elapsedMs();
    for (const event of events) {
      const { eventId } = event;
      this.#closing.get(eventId)?.abort();
      this.#closing.delete(eventId);
      const markets = event.markets.map((m) => m.marketId).join(' ');
      const known = this.#open.get(eventId)?.markets;
      this.#open.set(eventId, { markets, listedAtMs });
      if (known !== markets) this.handlers.onOpen(event);
    }
    if (!complete) return;
    const listed = new Set(events.map((event) => event.eventId));
    for (const [eventId, known] of this.#open) {
      if (!listed.has(eventId) && known.listedAtMs < startedAtMs) this.#closeSoon(eventId);
    }
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
