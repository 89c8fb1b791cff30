import { join } from 'node:path';
import type { Registry } from 'prom-client';
import type { Bus } from '../bus/index.js';
import { checkPeriod, ExchangeClient } from '../client/index.js';
import {
  type Clock,
  type Component,
  describeError,
  type Health,
  isRetryable,
  type Logger,
  OutageLog,
  packageVersion,
  retry,
  type Settings,
  systemClock,
  TOPICS,
} from '../core/index.js';
import { exchangeAddresses } from './exchange-addresses.js';
import { HistoryState } from './history-state.js';
import { Marks } from './marks.js';
import { CollectorMetrics } from './metrics.js';
import { OpenEvents } from './open-events.js';
import { ChanceHistoryPoll } from './poll-chance-history.js';
import { EventsPoll } from './poll-events.js';
import { ReferencePoll } from './poll-reference.js';
import { Publisher } from './publisher.js';
import { checkPattern, Schedules } from './schedules.js';
import { ChanceFeed } from './stream-chance.js';
import { OrderBookFeed } from './stream-order-book.js';

export interface CollectorOptions {
  readonly settings: Settings;
  readonly bus: Bus;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
  /** Received bytes that may wait for the bus before sockets are paused. Default 32 MiB. */
  readonly queueBytes?: number;
  /** How long the exchange may take to answer a probe or a subscription, milliseconds. Default 5,000. */
  readonly answerMs?: number;
  /** Longest wait before a reconnect, milliseconds. Default 30,000. */
  readonly reconnectCapMs?: number;
}

const SCHEDULES = ['eventsSchedule', 'referenceSchedule', 'historySchedule'] as const;
/** How long a stop waits for the bus, milliseconds. */
const STOP_MS = 3000;

/** Records everything public of the exchange onto the bus: both streams, reference data and chance history. */
export class Collector implements Component {
  readonly name = 'collector';
  /** Rejects when the bus refuses records for good; the collector cannot go on then. */
  readonly failed: Promise<never>;
  readonly #clock: Clock;
  readonly #client: ExchangeClient;
  readonly #publisher: Publisher;
  readonly #marks: Marks;
  readonly #schedules: Schedules;
  readonly #state: HistoryState;
  readonly #history: ChanceHistoryPoll;
  readonly #events: EventsPoll;
  readonly #reference: ReferencePoll;
  readonly #open: OpenEvents;
  readonly #orderBook: OrderBookFeed;
  readonly #chance: ChanceFeed;
  #fail: (error: unknown) => void = () => undefined;
  #started = false;
  #stopping: Promise<void> | undefined;

  /** @throws AddressError, UsageError for settings that cannot be used */
  constructor(private readonly options: CollectorOptions) {
    const { settings, bus, log, clock = systemClock } = options;
    for (const setting of SCHEDULES) checkPattern(setting, settings[setting]);
    checkPeriod(settings.historyPeriod);
    this.#clock = clock;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
    const addresses = exchangeAddresses(settings);
    const metrics = new CollectorMetrics(options.metrics);
    const { requestsPerSecond, requestTimeoutMs: timeoutMs } = settings;
    this.#client = new ExchangeClient({ addresses, requestsPerSecond, timeoutMs, clock });
    const queue = options.queueBytes === undefined ? {} : { queueBytes: options.queueBytes };
    this.#publisher = new Publisher({ bus, clock, metrics, log, ...queue });
    this.#marks = new Marks(this.#publisher, clock);
    const outage = new OutageLog(log, 'the exchange is back');
    const common = { publisher: this.#publisher, marks: this.#marks, metrics, outage, clock };
    const polls = { ...common, client: this.#client };
    this.#schedules = new Schedules(log);
    this.#state = new HistoryState(join(settings.data, 'collector', 'chance-history.json'), log);
    const { historyPeriod: period, historyDays: days } = settings;
    this.#history = new ChanceHistoryPoll({ ...polls, state: this.#state, period, days });
    this.#reference = new ReferencePoll(polls);
    const { subscriptionsPerConnection, silenceMs } = settings;
    const cap = options.reconnectCapMs === undefined ? {} : { reconnectCapMs: options.reconnectCapMs };
    const feed = {
      ...common,
      ...cap,
      addresses,
      subscriptionsPerConnection,
      silenceMs,
      answerMs: options.answerMs ?? 5000,
    };
    this.#orderBook = new OrderBookFeed(feed);
    this.#chance = new ChanceFeed({ ...feed, onGap: (eventId) => this.#history.refreshSoon(eventId) });
    this.#open = this.#follow();
    this.#events = new EventsPoll(polls, (list) => {
      this.#open.update(list);
      if (list.complete) this.#history.finishOthers(this.#open.ids);
    });
  }

  /** Ready when the bus is; an exchange that is down is waited for. */
  async start(signal: AbortSignal): Promise<void> {
    const { settings, log } = this.options;
    await this.#ensureTopics(signal);
    await this.#state.load();
    this.#publisher.run().catch((error) => {
      log.error({ err: error }, `the bus refuses records: ${describeError(error)}`);
      this.#fail(error);
    });
    this.#started = true;
    const collector = settings.collectorName;
    void this.#marks.write({ type: 'session-started', collector, version: packageVersion(), shard: '0/1' });
    this.#marks.startAlive();
    this.#schedules.add('eventsSchedule', settings.eventsSchedule, (stop) => this.#events.run(stop));
    this.#schedules.add('referenceSchedule', settings.referenceSchedule, (stop) => this.#reference.run(stop));
    this.#schedules.add('historySchedule', settings.historySchedule, () => this.#history.refresh());
  }

  /** Ends the feeds, waits for the bus to have everything, and says goodbye on it. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  health(): Health {
    const lagMs = Math.max(0, Math.round(this.#clock.nowMs() - this.#publisher.watermark / 1000));
    const detail = { session: this.#publisher.sid, openEvents: this.#open.ids.size, busLagMs: lagMs };
    return { ok: this.#started && lagMs < 10_000, detail };
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
      this.#clock,
    );
  }

  async #ensureTopics(signal: AbortSignal): Promise<void> {
    const { settings, bus, log } = this.options;
    const outage = new OutageLog(log, 'the bus is there');
    const retentionMs = settings.busRetentionHours * 3_600_000;
    const options = { partitions: settings.busPartitions, retentionMs, retentionBytes: settings.busRetentionBytes };
    for (const topic of Object.values(TOPICS)) {
      await retry(() => bus.ensureTopic(topic, options), {
        attempts: Number.POSITIVE_INFINITY,
        capMs: 2000,
        signal,
        retryable: isRetryable,
        onRetry: (error) => outage.failed(describeError(error)),
      });
    }
    outage.succeeded();
  }

  async #stop(): Promise<void> {
    this.#open.stop();
    await Promise.all([
      this.#schedules.stop(),
      this.#history.stop(),
      this.#orderBook.close(),
      this.#chance.close(),
      this.#client.close(),
    ]);
    this.#marks.stopAlive();
    if (!this.#started) return;
    await Promise.race([this.#sayGoodbye(), this.#clock.sleep(STOP_MS)]);
    const lost = await this.#publisher.drain(0);
    if (lost > 0) this.options.log.error(`${lost} received records could not be put on the bus and are lost`);
  }

  /** Goodbye is not said before everything is on the bus, and the last sign of life names all of it. */
  async #sayGoodbye(): Promise<void> {
    await this.#marks.alive();
    await this.#marks.alive();
    await this.#marks.write({ type: 'session-stopped', cause: 'asked to' });
  }
}
