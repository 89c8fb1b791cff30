import type { Event } from '../../client/index.js';
import { describeError } from '../../core/index.js';
import { eventEntries } from './event-entries.js';
import type { EventSearchParts } from './event-search-poll.js';
import { Poll, type PollSource } from './poll.js';

/** With the records of the complete search, so that records of event search stay in order. */
const SOURCE: PollSource = {
  kind: 'reference.events',
  operation: 'new-events',
  subject: 'all',
  key: 'event-search',
  entriesOf: eventEntries,
};

/** Most polls read a known event only: a small page is less to record. Two, in case the newest one leaves the list. */
const PAGE_SIZE = 2;
/** More new events than on these pages are found by the complete search. */
const MAX_PAGES = 50;

export interface NewEventsHandlers {
  /** Whether event search has listed the event before. */
  isKnown(event: Event): boolean;
  /** Called for each page with new events, before the next one is read. */
  onEvents(events: readonly Event[]): void;
}

/**
 * Polls the newest events of event search (part 4.5) up to the first known one, so that new events are subscribed soon. It
 * has high priority: a new event must not wait for the polls of many accounts.
 */
export class NewEventsPoll {
  constructor(
    private readonly parts: EventSearchParts,
    private readonly handlers: NewEventsHandlers,
  ) {}

  /** One walk. Never rejects: errors are in the receipt. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, recorded, outage } = this.parts;
    const poll = recorded ? new Poll(this.parts, SOURCE, signal) : undefined;
    const pages = { pageSize: PAGE_SIZE, maxPages: MAX_PAGES };
    const options = { ...pages, signal, onResponse: poll?.onResponse, priority: 'high' } as const;
    // An event that opens meanwhile moves those of this walk to later pages: they do not end it.
    const found = new Set<string>();
    const walk = client.walkNewEvents((event) => !found.has(event.eventId) && this.handlers.isKnown(event), options);
    const onPage = ({ items }: { readonly items: readonly Event[] }) => {
      for (const { eventId } of items) found.add(eventId);
      if (items.length > 0) this.handlers.onEvents(items);
    };
    const startedAtMs = clock.elapsedMs();
    try {
      if (poll) {
        await poll.walk(walk, onPage);
        return;
      }
      for await (const page of walk) onPage(page);
      outage.succeeded(startedAtMs);
    } catch (error) {
      if (!signal.aborted) outage.failed(describeError(error));
    }
  }
}
