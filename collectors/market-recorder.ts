import { join } from 'node:path';
import type { ExchangeAddresses } from '../client/index.js';
import type { Logger, Settings } from '../core/index.js';
import { OpenEvents } from './open-events.js';
import { ChanceHistoryPoll } from './polls/chance-history-poll.js';
import { HistoryState } from './polls/chance-history-state.js';
import { EventsPoll } from './polls/event-search-poll.js';
import type { PollParts } from './polls/poll.js';
import { ReferencePoll } from './polls/reference-poll.js';
import type { Schedules } from './schedules.js';
import type { Share } from './shard-assignment.js';
import { ChanceFeed } from './streams/chance-feed.js';
import type { FeedParts } from './streams/feed-protocol.js';
import { OrderBookFeed } from './streams/order-book-feed.js';

export interface MarketRecorderOptions {
  readonly settings: Settings;
  readonly polls: PollParts;
  readonly feeds: Omit<FeedParts, 'onGap'>;
  readonly addresses: ExchangeAddresses;
  readonly share: Share;
  readonly log: Logger;
  readonly reconnectCapMs?: number;
}

/** Records what is public: both streams and chance history of this collector's events, and its part of reference data. */
export class MarketRecorder {
  readonly #state: HistoryState;
  readonly #history: ChanceHistoryPoll;
  readonly #events: EventsPoll;
  readonly #reference: ReferencePoll;
  readonly #open: OpenEvents;
  readonly #orderBook: OrderBookFeed;
  readonly #chance: ChanceFeed;

  /** @throws AddressError */
  constructor(private readonly options: MarketRecorderOptions) {
    const { settings, polls, addresses, share, log, reconnectCapMs } = options;
    const { historyPeriod: period, historyDays: days, subscriptionsPerConnection } = settings;
    this.#state = new HistoryState({ folder: join(settings.data, 'collector'), share, log });
    this.#history = new ChanceHistoryPoll({ ...polls, state: this.#state, period, days });
    this.#reference = new ReferencePoll(polls, share);
    const cap = reconnectCapMs === undefined ? {} : { reconnectCapMs };
    const feed = { ...options.feeds, ...cap, addresses, subscriptionsPerConnection };
    this.#orderBook = new OrderBookFeed(feed);
    this.#chance = new ChanceFeed({ ...feed, onGap: (eventId) => this.#history.refreshSoon(eventId) });
    this.#open = this.#follow();
    // Every collector must know the events; one of them records what the search says.
    this.#events = new EventsPoll({ ...polls, recorded: share.owns('event-search') }, ({ events, complete }) => {
      this.#open.update({ events: events.filter(({ eventId }) => share.ownsEvent(eventId)), complete });
      if (complete) this.#history.finishOthers(this.#open.ids);
    });
  }

  /** Events of this collector that are open. */
  get openEvents(): number {
    return this.#open.ids.size;
  }

  async start(schedules: Schedules): Promise<void> {
    const { settings } = this.options;
    await this.#state.load();
    schedules.add('eventsSchedule', settings.eventsSchedule, (stop) => this.#events.run(stop));
    schedules.add('referenceSchedule', settings.referenceSchedule, (stop) => this.#reference.run(stop));
    schedules.add('historySchedule', settings.historySchedule, () => this.#history.refresh());
  }

  async stop(): Promise<void> {
    this.#open.stop();
    await Promise.all([this.#history.stop(), this.#orderBook.close(), this.#chance.close()]);
  }

  #follow(): OpenEvents {
    return new OpenEvents(
      {
        onOpen: (event) => {
          const markets = event.markets.map((m) => m.marketId);
          this.#orderBook.add(event.eventId, markets);
          if (markets.length > 0) this.#chance.add(event.eventId, markets);
          this.#history.track(event);
        },
        onClosed: (eventId) => {
          this.#orderBook.remove(eventId, 'the event has closed');
          this.#chance.remove(eventId, 'the event has closed');
          this.#history.finish(eventId);
        },
      },
      this.options.polls.clock,
    );
  }
}
