import type { ExchangeAddresses } from '../client/index.js';
import type { Logger } from '../core/index.js';
import { OpenEvents } from './open-events.js';
import { ChanceHistoryPoll } from './polls/chance-history-poll.js';
import { ChanceHistoryState } from './polls/chance-history-state.js';
import { type EventList, EventSearchPoll } from './polls/event-search-poll.js';
import { NewEventsPoll } from './polls/new-events-poll.js';
import type { PollParts } from './polls/poll.js';
import { ReferencePoll } from './polls/reference-poll.js';
import type { Recorder, RecorderContext } from './recorder.js';
import type { ShardAssignment } from './shard-assignment.js';
import { ChanceFeed } from './streams/chance-feed.js';
import type { EventFeed, EventFeedOptions } from './streams/event-feed.js';
import type { FeedParts } from './streams/feed-protocol.js';
import { LastPriceCheck } from './streams/last-price-check.js';
import { OrderBookFeed } from './streams/order-book-feed.js';

export interface MarketRecorderOptions {
  readonly polls: PollParts;
  readonly feeds: Omit<FeedParts, 'onGap'>;
  readonly addresses: ExchangeAddresses;
  readonly assignment: ShardAssignment;
  readonly log: Logger;
  /** Folder of the state files. */
  readonly folder: string;
  readonly reconnectCapMs?: number;
}

/** Records public data: streams and chance history of this collector's events, and its share of the reference data. */
export class MarketRecorder implements Recorder {
  readonly #state: ChanceHistoryState;
  readonly #history: ChanceHistoryPoll;
  readonly #events: EventSearchPoll;
  readonly #newEvents: NewEventsPoll;
  readonly #reference: ReferencePoll;
  readonly #open: OpenEvents;
  readonly #feeds: readonly EventFeed[];
  readonly #prices: LastPriceCheck;
  readonly #assignment: ShardAssignment;
  /** IDs of the events of all collectors: those of the last complete search, and those that were found since. */
  #listed: Set<string> | undefined;

  /** @throws AddressError */
  constructor(options: MarketRecorderOptions) {
    const { polls, addresses, assignment, log, folder, reconnectCapMs } = options;
    this.#assignment = assignment;
    this.#state = new ChanceHistoryState({ folder, assignment, log });
    this.#history = new ChanceHistoryPoll({ ...polls, state: this.#state });
    this.#reference = new ReferencePoll(polls, assignment);
    const cap = reconnectCapMs === undefined ? {} : { reconnectCapMs };
    const feed: EventFeedOptions = { ...options.feeds, ...cap, addresses };
    const orderBook = new OrderBookFeed({
      ...feed,
      onPrice: (eventId, marketId, last) => this.#prices.onLast(eventId, marketId, last),
    });
    this.#prices = new LastPriceCheck(polls.clock, (eventId) => orderBook.auditSoon(eventId));
    this.#feeds = [
      orderBook,
      new ChanceFeed({
        ...feed,
        onGap: (eventId) => this.#history.refreshSoon(eventId),
        onPrice: (eventId, marketId, chance) => this.#prices.onChance(eventId, marketId, chance),
      }),
    ];
    this.#open = this.#follow(polls);
    // Every collector polls the search to know the events; one of them records it.
    const search = { ...polls, recorded: assignment.owns('event-search') };
    this.#events = new EventSearchPoll(search, (list) => {
      if (list.complete) this.#listed = new Set();
      this.#update(list);
      if (list.complete) this.#history.finishOthers(this.#open.ids);
    });
    this.#newEvents = new NewEventsPoll(search, {
      isKnown: ({ eventId }) => this.#listed?.has(eventId) ?? false,
      onEvents: (events) => this.#update({ events, complete: false, startedAtMs: polls.clock.elapsedMs() }),
    });
  }

  /** Events of this collector that are open. */
  get openEvents(): number {
    return this.#open.ids.size;
  }

  async start({ schedules }: RecorderContext): Promise<void> {
    await this.#state.load();
    schedules.add('events', (signal) => this.#events.run(signal));
    // Before a search has listed the events, all would be new.
    schedules.add('newEvents', (signal) => (this.#listed ? this.#newEvents.run(signal) : undefined));
    schedules.add('reference', (signal) => this.#reference.run(signal));
    schedules.add('history', () => this.#history.refresh());
  }

  async stop(): Promise<void> {
    this.#open.stop();
    this.#prices.stop();
    await Promise.all([this.#history.stop(), ...this.#feeds.map((feed) => feed.close())]);
  }

  #update({ events, ...list }: EventList): void {
    for (const { eventId } of events) this.#listed?.add(eventId);
    this.#open.update({ ...list, events: events.filter(({ eventId }) => this.#assignment.ownsEvent(eventId)) });
  }

  #follow({ clock }: PollParts): OpenEvents {
    const onOpen: OpenEvents['handlers']['onOpen'] = (event) => {
      const marketIds = event.markets.map((m) => m.marketId);
      for (const feed of this.#feeds) feed.add(event.eventId, marketIds);
      this.#history.track(event);
    };
    const onClosed = (eventId: string) => {
      for (const feed of this.#feeds) feed.remove(eventId, 'the event has closed');
      this.#prices.remove(eventId);
      this.#history.finish(eventId);
    };
    return new OpenEvents({ onOpen, onClosed }, clock);
  }
}
