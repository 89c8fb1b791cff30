import type { ExchangeAddresses } from '../client/index.js';
import type { Logger } from '../core/index.js';
import { OpenEvents } from './open-events.js';
import { ChanceHistoryPoll } from './polls/chance-history-poll.js';
import { ChanceHistoryState } from './polls/chance-history-state.js';
import { EventSearchPoll } from './polls/event-search-poll.js';
import type { PollParts } from './polls/poll.js';
import { ReferencePoll } from './polls/reference-poll.js';
import type { Recorder, RecorderContext } from './recorder.js';
import type { ShardAssignment } from './shard-assignment.js';
import { ChanceFeed } from './streams/chance-feed.js';
import type { EventFeed, EventFeedOptions } from './streams/event-feed.js';
import type { FeedParts } from './streams/feed-protocol.js';
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
  readonly subscriptionsPerConnection: number;
  readonly historyPeriod: string;
  readonly historyDays: number;
}

/** Records what is public: streams and chance history of this collector's events, and its part of the reference data. */
export class MarketRecorder implements Recorder {
  readonly #state: ChanceHistoryState;
  readonly #history: ChanceHistoryPoll;
  readonly #events: EventSearchPoll;
  readonly #reference: ReferencePoll;
  readonly #open: OpenEvents;
  readonly #feeds: readonly EventFeed[];

  /** @throws AddressError */
  constructor(options: MarketRecorderOptions) {
    const { polls, addresses, assignment, log, folder, reconnectCapMs, subscriptionsPerConnection } = options;
    this.#state = new ChanceHistoryState({ folder, assignment, log });
    const { historyPeriod: period, historyDays: days } = options;
    this.#history = new ChanceHistoryPoll({ ...polls, state: this.#state, period, days });
    this.#reference = new ReferencePoll(polls, assignment);
    const cap = reconnectCapMs === undefined ? {} : { reconnectCapMs };
    const feed: EventFeedOptions = { ...options.feeds, ...cap, addresses, subscriptionsPerConnection };
    this.#feeds = [
      new OrderBookFeed(feed),
      new ChanceFeed({ ...feed, onGap: (eventId) => this.#history.refreshSoon(eventId) }),
    ];
    this.#open = this.#follow(polls);
    // Every collector must know the events; one of them records the search.
    this.#events = new EventSearchPoll({ ...polls, recorded: assignment.owns('event-search') }, (list) => {
      const { events, complete } = list;
      this.#open.update({ events: events.filter(({ eventId }) => assignment.ownsEvent(eventId)), complete });
      if (complete) this.#history.finishOthers(this.#open.ids);
    });
  }

  /** Events of this collector that are open. */
  get openEvents(): number {
    return this.#open.ids.size;
  }

  async start({ schedules }: RecorderContext): Promise<void> {
    await this.#state.load();
    schedules.add('events', (signal) => this.#events.run(signal));
    schedules.add('reference', (signal) => this.#reference.run(signal));
    schedules.add('history', () => this.#history.refresh());
  }

  async stop(): Promise<void> {
    this.#open.stop();
    await Promise.all([this.#history.stop(), ...this.#feeds.map((feed) => feed.close())]);
  }

  #follow({ clock }: PollParts): OpenEvents {
    const onOpen: OpenEvents['handlers']['onOpen'] = (event) => {
      const marketIds = event.markets.map((m) => m.marketId);
      for (const feed of this.#feeds) feed.add(event.eventId, marketIds);
      this.#history.track(event);
    };
    const onClosed = (eventId: string) => {
      for (const feed of this.#feeds) feed.remove(eventId, 'the event has closed');
      this.#history.finish(eventId);
    };
    return new OpenEvents({ onOpen, onClosed }, clock);
  }
}
