import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { type Bus, ensureTopics } from '../bus/index.js';
import { checkPeriod, ExchangeClient } from '../client/index.js';
import {
  type AccountCredentials,
  type Clock,
  type Component,
  describeError,
  type Health,
  type Logger,
  OutageLog,
  packageVersion,
  type Settings,
  STOP_MS,
  Stopped,
  systemClock,
  TOPICS,
} from '../core/index.js';
import { AccountsRecorder } from './account/create-recorders.js';
import { POLL_GROUPS } from './account/poll-definitions.js';
import { exchangeAddresses } from './exchange-addresses.js';
import { MarketRecorder } from './market-recorder.js';
import { Marks } from './marks.js';
import { CollectorMetrics } from './metrics.js';
import { Publisher } from './publisher.js';
import { checkPattern, Schedules } from './schedules.js';
import { Share } from './shard-assignment.js';
import { RawFeed, rawFeedsOf } from './streams/raw-feed.js';

export interface CollectorOptions {
  readonly settings: Settings;
  readonly bus: Bus;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Accounts that are recorded too; default none. */
  readonly accounts?: readonly AccountCredentials[];
  readonly clock?: Clock;
  /** Received bytes that may wait for the bus before sockets are paused. Default 32 MiB. */
  readonly queueBytes?: number;
  /** How long the exchange may take to answer a probe or a subscription, milliseconds. Default 5,000. */
  readonly answerMs?: number;
  /** Longest wait before a reconnect, milliseconds. Default 30,000. */
  readonly reconnectCapMs?: number;
}

const SCHEDULES = [
  'eventsSchedule',
  'referenceSchedule',
  'historySchedule',
  'holdingsSchedule',
  'tradesSchedule',
  'transactionsSchedule',
  'tpslSchedule',
  'statsSchedule',
  'activitySchedule',
] as const;

/** Records the exchange onto the bus: everything public, the configured accounts, and feeds by their address. */
export class Collector implements Component {
  readonly name = 'collector';
  /** Rejects when the bus refuses records for good; the collector cannot go on then. */
  readonly failed: Promise<never>;
  readonly #clock: Clock;
  readonly #client: ExchangeClient;
  readonly #publisher: Publisher;
  readonly #marks: Marks;
  readonly #schedules: Schedules;
  readonly #market: MarketRecorder;
  readonly #accounts: AccountsRecorder;
  readonly #rawFeeds: readonly RawFeed[];
  readonly #ending = new AbortController();
  #fail: (error: unknown) => void = () => undefined;
  #started = false;
  #stopping: Promise<void> | undefined;

  /** @throws AddressError, UsageError for settings and credentials that cannot be used */
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
    this.#schedules = new Schedules(log);
    const outage = new OutageLog(log, 'the exchange is back');
    const common = { publisher: this.#publisher, marks: this.#marks, metrics, outage, clock };
    const cap = options.reconnectCapMs === undefined ? {} : { reconnectCapMs: options.reconnectCapMs };
    const parts = {
      ...cap,
      addresses,
      log,
      share: new Share(settings.shard),
      polls: { ...common, client: this.#client },
      feeds: { ...common, silenceMs: settings.silenceMs, answerMs: options.answerMs ?? 5000 },
    };
    // Every request and every wait of every account listens to it.
    setMaxListeners(0, this.#ending.signal);
    this.#market = new MarketRecorder({ ...parts, settings });
    this.#accounts = new AccountsRecorder({
      ...parts,
      accounts: options.accounts ?? [],
      folder: join(settings.data, 'collector'),
      signal: this.#ending.signal,
    });
    this.#rawFeeds = [...rawFeedsOf(settings.rawFeeds)]
      .filter(([name]) => parts.share.owns(`feed:${name}`))
      .map(([name, url]) => new RawFeed({ ...common, ...cap, log, name, url }));
  }

  /** Ready when the bus is; an exchange that is down is waited for. */
  async start(signal: AbortSignal): Promise<void> {
    const { settings, bus, log } = this.options;
    await ensureTopics(bus, Object.values(TOPICS), settings, { log, signal });
    this.#publisher.run().catch((error) => {
      log.error({ err: error }, `the bus refuses records: ${describeError(error)}`);
      this.#fail(error);
    });
    this.#started = true;
    const collector = settings.collectorName;
    void this.#marks.write({ type: 'session-started', collector, version: packageVersion(), shard: settings.shard });
    this.#marks.startAlive();
    await this.#market.start(this.#schedules);
    await this.#startAccounts();
    for (const feed of this.#rawFeeds) feed.start();
  }

  /** Ends the feeds, waits for the bus to have everything, and says goodbye on it. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  health(): Health {
    const lagMs = Math.max(0, Math.round(this.#clock.nowMs() - this.#publisher.watermark / 1000));
    const detail = { session: this.#publisher.sid, openEvents: this.#market.openEvents, busLagMs: lagMs };
    const ok = this.#started && lagMs < 10_000;
    return { ok, detail: ok ? detail : { ...detail, cause: `the bus has taken nothing for ${lagMs} ms` } };
  }

  async #startAccounts(): Promise<void> {
    const { settings, bus } = this.options;
    const schedules = this.#schedules;
    const partitions = await bus.partitions();
    // What is known of the accounts holds for this log alone.
    await this.#accounts.start(partitions.find(({ topic }) => topic === TOPICS.account)?.log ?? '');
    for (const group of POLL_GROUPS) {
      const setting = `${group}Schedule` as const;
      schedules.add(setting, settings[setting], () => this.#accounts.due(group));
    }
    schedules.add('activitySchedule', settings.activitySchedule, () => this.#accounts.activityDue());
  }

  async #stop(): Promise<void> {
    this.#ending.abort(new Stopped('the collector'));
    await Promise.all([
      this.#schedules.stop(),
      this.#market.stop(),
      this.#accounts.stop(),
      ...this.#rawFeeds.map((feed) => feed.close()),
      this.#client.close(),
    ]);
    this.#marks.stopAlive();
    if (!this.#started) return;
    await Promise.race([this.#sayGoodbye(), this.#clock.sleep(STOP_MS.collector)]);
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
