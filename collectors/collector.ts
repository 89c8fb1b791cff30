import { setMaxListeners } from 'node:events';
import { ensureTopics } from '../bus/index.js';
import { ExchangeClient } from '../client/index.js';
import {
  CLEAN_SHUTDOWN,
  type Clock,
  type Component,
  deferred,
  describeError,
  type Health,
  OutageLog,
  packageVersion,
  STOP_MS,
  Stopped,
  systemClock,
  TOPICS,
} from '../core/index.js';
import { createAccountRecorders } from './account/create-recorders.js';
import { checkCollectorSettings } from './check-settings.js';
import { CollectorEventWriter } from './collector-event-writer.js';
import type { CollectorOptions } from './collector-options.js';
import { MarketRecorder } from './market-recorder.js';
import { CollectorMetrics } from './metrics.js';
import { PublishedEntries } from './polls/published-entries.js';
import { Publisher } from './publisher.js';
import type { Recorder } from './recorder.js';
import { Schedules } from './schedules.js';
import { ShardAssignment } from './shard-assignment.js';
import { RawFeed, rawFeedsOf } from './streams/raw-feed.js';

const MAX_BUS_LAG_MS = 10_000;
/** A larger response is recorded up to here, and makes no rows. With it, a collector stays below 512 MB of memory. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Records the exchange onto the bus: public data, the configured accounts, and feeds by address. */
export class Collector implements Component {
  readonly name = 'collector';
  /** Rejects when the bus rejects records permanently and the collector cannot continue. */
  readonly failed: Promise<never>;
  readonly #failure = deferred<never>();
  readonly #clock: Clock;
  readonly #client: ExchangeClient;
  readonly #publisher: Publisher;
  readonly #collectorEvents: CollectorEventWriter;
  readonly #schedules: Schedules;
  readonly #market: MarketRecorder;
  readonly #recorders: readonly Recorder[];
  readonly #ending = new AbortController();
  #started = false;
  #stopping: Promise<void> | undefined;

  /** @throws AddressError, UsageError for options and credentials that cannot be used */
  constructor(private readonly options: CollectorOptions) {
    const { bus, log, folder, addresses, settings, clock = systemClock } = options;
    checkCollectorSettings(settings, addresses);
    this.#schedules = new Schedules(settings, log);
    this.#clock = clock;
    this.failed = this.#failure.promise;
    this.failed.catch(() => undefined);
    const metrics = new CollectorMetrics(options.metrics);
    const { requestTimeoutMs: timeoutMs } = options;
    const { requestsPerSecond } = settings;
    const beforeLargeBody = () => this.#publisher.whenWritable();
    this.#client = new ExchangeClient({
      addresses,
      requestsPerSecond,
      timeoutMs,
      maxBodyBytes: MAX_BODY_BYTES,
      beforeLargeBody,
      clock,
    });
    const queue = options.queueBytes === undefined ? {} : { queueBytes: options.queueBytes };
    this.#publisher = new Publisher({ bus, clock, metrics, log, ...queue });
    this.#collectorEvents = new CollectorEventWriter(this.#publisher, clock);
    const outage = new OutageLog(log, 'the exchange is back', clock);
    const common = {
      publisher: this.#publisher,
      collectorEvents: this.#collectorEvents,
      metrics,
      outage,
      clock,
      settings,
    };
    const cap = options.reconnectCapMs === undefined ? {} : { reconnectCapMs: options.reconnectCapMs };
    const assignment = new ShardAssignment(settings.shard);
    const parts = {
      ...cap,
      addresses,
      log,
      folder,
      polls: { ...common, client: this.#client, publishedEntries: new PublishedEntries() },
      feeds: { ...common, answerMs: options.answerMs ?? 5000 },
    };
    // Every request and every delay of every account listens to it.
    setMaxListeners(0, this.#ending.signal);
    this.#market = new MarketRecorder({ ...parts, assignment });
    this.#recorders = [
      this.#market,
      ...createAccountRecorders(options.accounts ?? [], assignment, { ...parts, signal: this.#ending.signal }),
      ...[...rawFeedsOf(settings.rawFeeds)]
        .filter(([name]) => assignment.owns(`feed:${name}`))
        .map(([name, url]) => new RawFeed({ ...common, ...cap, log, name, url })),
    ];
  }

  /** Resolves when the bus is ready; the exchange may still be unavailable. */
  async start(signal: AbortSignal): Promise<void> {
    const { topics, bus, log, settings } = this.options;
    const { collectorName: collector, shard } = settings;
    await ensureTopics(bus, Object.values(TOPICS), topics, { log, signal });
    this.#publisher.run().catch((error) => {
      log.error({ err: error }, `the bus rejects records: ${describeError(error)}`);
      this.#failure.reject(error);
    });
    this.#started = true;
    void this.#collectorEvents.write({ type: 'session-started', collector, version: packageVersion(), shard });
    this.#collectorEvents.startHeartbeat();
    const partitions = await bus.partitions();
    const accountLog = partitions.find(({ topic }) => topic === TOPICS.account)?.log ?? '';
    const context = { schedules: this.#schedules, accountLog };
    await Promise.all(this.#recorders.map((recorder) => recorder.start(context)));
  }

  /** Closes the streams, waits until everything is on the bus, and ends the session there. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  health(): Health {
    const lagMs = Math.max(0, Math.round(this.#clock.nowMs() - this.#publisher.watermark / 1000));
    const detail = { session: this.#publisher.sessionId, openEvents: this.#market.openEvents, busLagMs: lagMs };
    const ok = this.#started && lagMs < MAX_BUS_LAG_MS;
    return { ok, detail: ok ? detail : { ...detail, cause: `the bus has accepted no record for ${lagMs} ms` } };
  }

  async #stop(): Promise<void> {
    this.#ending.abort(new Stopped('the collector'));
    await Promise.all([
      this.#schedules.stop(),
      ...this.#recorders.map((recorder) => recorder.stop()),
      this.#client.close(),
    ]);
    this.#collectorEvents.stopHeartbeat();
    if (!this.#started) return;
    await Promise.race([this.#endSession(), this.#clock.sleep(STOP_MS.collector)]);
    const lost = await this.#publisher.drain(0);
    if (lost > 0) this.options.log.error(`${lost} received records could not be appended to the bus and are lost`);
  }

  /** The session ends after everything is on the bus: the last heartbeat covers all of it. */
  async #endSession(): Promise<void> {
    await this.#collectorEvents.heartbeat();
    await this.#collectorEvents.heartbeat();
    await this.#collectorEvents.write({ type: 'session-stopped', cause: CLEAN_SHUTDOWN });
  }
}
