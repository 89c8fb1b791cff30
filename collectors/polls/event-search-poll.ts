import type { Event } from '../../client/index.js';
import { describeError } from '../../core/index.js';
import { eventEntries } from './event-entries.js';
import { Poll, type PollParts, type PollSource } from './poll.js';

/** Open events listed by event search, and whether these are all. */
export interface EventList {
  readonly events: readonly Event[];
  readonly complete: boolean;
  /** When the search was started, `Clock.elapsedMs`. */
  readonly startedAtMs: number;
}

export interface EventSearchParts extends PollParts {
  /** Whether responses and receipts are published; only one of several collectors does that. */
  readonly recorded: boolean;
}

const SOURCE: PollSource = {
  kind: 'reference.events',
  operation: 'event-search',
  subject: 'all',
  key: 'event-search',
  entriesOf: eventEntries,
};

/** Polls event search, all pages (part 4.5). */
export class EventSearchPoll {
  constructor(
    private readonly parts: EventSearchParts,
    private readonly onEvents: (list: EventList) => void,
  ) {}

  /** One walk over all pages. Never rejects: errors are in the receipt. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, recorded, outage } = this.parts;
    const poll = recorded && new Poll(this.parts, SOURCE, signal);
    const walk = client.walkEvents({}, { signal, onResponse: poll ? poll.onResponse : undefined });
    const events = new Map<string, Event>();
    const startedAtMs = clock.elapsedMs();
    let failure: unknown;
    try {
      for await (const page of walk) {
        for (const event of page.items) events.set(event.eventId, event);
        if (poll) await poll.published();
      }
    } catch (error) {
      if (signal.aborted) return;
      failure = error;
    }
    const { expectedItems, receivedItems, distinctItems, pages, truncated, complete, cause } = walk.report;
    // Events of a failed walk count too; only a complete walk shows that an event is no longer listed.
    if (pages > 0) {
      const listed = complete && failure === undefined;
      this.onEvents({ events: [...events.values()], complete: listed, startedAtMs });
    }
    const counts = { expectedItems, receivedItems, distinctItems, pages, truncated };
    if (poll && failure !== undefined) poll.fail(failure, counts, true);
    else if (poll) poll.finish({ ...counts, outcome: complete ? 'complete' : 'incomplete', cause });
    else if (failure === undefined) outage.succeeded(startedAtMs);
    else outage.failed(describeError(failure));
  }
}
