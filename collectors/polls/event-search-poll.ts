import type { Event } from '../../client/index.js';
import { describeError } from '../../core/index.js';
import { Poll, type PollParts } from './poll.js';

/** What event search says: the events that are open, and whether that is known to be all of them. */
export interface EventList {
  readonly events: readonly Event[];
  readonly complete: boolean;
}

export interface EventsPollParts extends PollParts {
  /** Whether its answers and receipts go to the bus: those of one collector among several are enough. */
  readonly recorded: boolean;
}

/** Polls event search, all pages (part 4.5). */
export class EventsPoll {
  constructor(
    private readonly parts: EventsPollParts,
    private readonly onEvents: (list: EventList) => void,
  ) {}

  /** One walk over all pages. Never rejects: what went wrong is in the receipt. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, recorded, outage } = this.parts;
    const poll = recorded && new Poll(this.parts, 'reference.events', 'event-search', 'all', 'event-search', signal);
    const walk = client.walkEvents({}, { signal, onResponse: poll ? poll.onResponse : undefined });
    const events = new Map<string, Event>();
    const begunAt = performance.now();
    let failure: string | undefined;
    try {
      for await (const page of walk) {
        for (const event of page.items) events.set(event.eventId, event);
        if (poll) await poll.published();
      }
    } catch (error) {
      if (signal.aborted) return;
      failure = describeError(error);
    }
    const { expected, got, unique, pages, truncated, complete, cause } = walk.report;
    // What was seen counts, also when a later page failed; only a complete walk can say that an event is gone.
    if (pages > 0) this.onEvents({ events: [...events.values()], complete: complete && failure === undefined });
    const outcome = failure !== undefined ? 'failed' : complete ? 'complete' : 'incomplete';
    if (poll) poll.finish({ expected, got, unique, pages, truncated, outcome, cause: failure ?? cause });
    else if (failure === undefined) outage.succeeded(begunAt);
    else outage.failed(failure);
  }
}
