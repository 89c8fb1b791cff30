import { setMaxListeners } from 'node:events';
import PQueue from 'p-queue';
import { type ChanceHistoryQuery, type Event, HttpStatusError } from '../../client/index.js';
import type { ChanceHistoryState } from './chance-history-state.js';
import { ChanceHistoryWindow, periodEnd, periodSeconds } from './chance-history-window.js';
import { Poll, type PollParts } from './poll.js';

export interface ChanceHistoryOptions extends PollParts {
  readonly state: ChanceHistoryState;
  /** Delay after a failure, milliseconds. Default 10,000. */
  readonly retryMs?: number;
}

/** Concurrent requests; the client paces them, so that other polls are sent between them. */
const CONCURRENCY = 2;
/** Periods by which ranges overlap, so that every point is within a range and not only its anchor. */
const OVERLAP_PERIODS = 2;
/** Maximum wait for the end of a gap's last period, seconds; later ones are fetched on schedule. */
const MAX_REFRESH_DELAY_S = 10;
/** Time after which the exchange has closed a period, seconds. */
const CLOSE_DELAY_S = 1;

interface Tracked {
  readonly event: string;
  /** Set when the event has closed: the market is fetched once more. */
  closed: boolean;
  /** Requested again while it was being fetched. */
  again: boolean;
  queued: boolean;
}

/** Result of one poll so far. */
interface PollTotals {
  points: number;
  readonly times: Set<number>;
  requests: number;
  truncated: boolean;
}

/**
 * Fetches the chance history (part 4.5) of every market from the end of its last poll up to now: at the start, on
 * schedule, after a gap in the stream, and when its event has closed.
 */
export class ChanceHistoryPoll {
  readonly #queue = new PQueue({ concurrency: CONCURRENCY });
  readonly #tracked = new Map<string, Tracked>();
  readonly #stop = new AbortController();

  constructor(private readonly options: ChanceHistoryOptions) {
    // Every request and every delay of every event listens to it.
    setMaxListeners(0, this.#stop.signal);
  }

  /** Tracks the event's markets; new ones are fetched at once. */
  track(event: Event): void {
    const created = event.createdAt === null ? Number.NaN : Date.parse(event.createdAt) / 1000;
    const oldest = this.#now() - this.options.settings.historyDays * 86_400;
    const since = Number.isFinite(created) ? Math.max(oldest, created) : oldest;
    for (const { marketId } of event.markets) {
      if (!this.#tracked.has(marketId)) this.#track(marketId, event.eventId, since);
    }
  }

  /** Fetches all markets of an event up to now, or of all events. */
  refresh(eventId?: string): void {
    for (const [marketId, tracked] of this.#tracked) {
      if (eventId === undefined || tracked.event === eventId) this.#enqueue(marketId, tracked);
    }
  }

  /** The same, once the exchange's history includes the current time. */
  refreshSoon(eventId: string): void {
    const { clock } = this.options;
    const { historyPeriod: period } = this.options.settings;
    const waitMs = 1000 * (CLOSE_DELAY_S + Math.min(periodSeconds(period), MAX_REFRESH_DELAY_S));
    clock.sleep(waitMs, this.#stop.signal).then(
      () => this.refresh(eventId),
      () => undefined,
    );
  }

  /** Call when the event has closed: fetches its markets once more, to the end. */
  finish(eventId: string): void {
    for (const tracked of this.#tracked.values()) if (tracked.event === eventId) tracked.closed = true;
    this.refresh(eventId);
  }

  /** Fetches the rest of markets that were tracked before a restart and whose events have closed. */
  finishOthers(open: ReadonlySet<string>): void {
    for (const [marketId, { event, until }] of this.options.state.markets) {
      if (open.has(event) || this.#tracked.has(marketId)) continue;
      this.#track(marketId, event, until, true);
    }
  }

  /** Resolves when no poll is running or queued. */
  idle(): Promise<void> {
    return this.#queue.onIdle();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#queue.clear();
    await this.#queue.onIdle();
    await this.options.state.flush();
  }

  #track(marketId: string, event: string, since: number, closed = false): void {
    const { state } = this.options;
    const { historyPeriod: period } = this.options.settings;
    const tracked = { event, closed, again: false, queued: false };
    this.#tracked.set(marketId, tracked);
    // Stored at once, so that a restarted collector fetches it even if the event has closed meanwhile.
    if (!state.get(marketId)) state.set(marketId, { event, until: periodEnd(period, since) });
    this.#enqueue(marketId, tracked);
  }

  #enqueue(marketId: string, tracked: Tracked): void {
    if (this.#stop.signal.aborted) return;
    if (tracked.queued) {
      tracked.again = true;
      return;
    }
    tracked.queued = true;
    void this.#queue.add(async () => {
      const closing = tracked.closed;
      tracked.again = false;
      const done = await this.#poll(marketId, tracked);
      tracked.queued = false;
      if (this.#stop.signal.aborted) return;
      if (!done) this.#retryLater(marketId, tracked);
      else if (tracked.again) this.#enqueue(marketId, tracked);
      else if (closing) this.#drop(marketId);
    });
  }

  #retryLater(marketId: string, tracked: Tracked): void {
    const { clock, retryMs = 10_000 } = this.options;
    clock.sleep(retryMs, this.#stop.signal).then(
      () => this.#enqueue(marketId, tracked),
      () => undefined,
    );
  }

  #drop(marketId: string): void {
    this.#tracked.delete(marketId);
    this.options.state.delete(marketId);
  }

  /** Fetches one market from the end of its last poll; false when that should be retried. */
  async #poll(marketId: string, tracked: Tracked): Promise<boolean> {
    const { state } = this.options;
    const { historyPeriod: period } = this.options.settings;
    const { event } = tracked;
    // Nothing changes after an event has closed: its last period is complete before it has ended.
    const to = tracked.closed ? Math.ceil(this.#now()) : periodEnd(period, this.#now() - CLOSE_DELAY_S);
    const from = state.get(marketId)?.until ?? to;
    if (from >= to) return true;
    const source = { kind: 'chance.history', operation: 'chance-history', subject: marketId, key: event } as const;
    const poll = new Poll(this.options, source, this.#stop.signal);
    const tally: PollTotals = { points: 0, times: new Set(), requests: 0, truncated: false };
    const counts = () => {
      const { points: receivedItems, requests: pages, truncated } = tally;
      return { expectedItems: null, receivedItems, distinctItems: tally.times.size, pages, truncated };
    };
    try {
      await this.#walk(poll, marketId, event, from, to, tally);
    } catch (error) {
      if (this.#stop.signal.aborted) return false;
      const gone = error instanceof HttpStatusError && error.status === 404;
      poll.fail(error, counts(), true);
      return gone;
    }
    const cause = tally.truncated ? 'more points in one period than an answer can contain' : '';
    poll.finish({ ...counts(), outcome: tally.truncated ? 'incomplete' : 'complete', cause });
    return true;
  }

  async #walk(poll: Poll, marketId: string, event: string, from: number, to: number, tally: PollTotals): Promise<void> {
    const { state, collectorEvents } = this.options;
    const { historyPeriod: period } = this.options.settings;
    const overlap = OVERLAP_PERIODS * periodSeconds(period);
    const window = new ChanceHistoryWindow(period);
    for (let done = from; done < to; ) {
      const end = Math.min(to, done + window.seconds);
      const query = { eventId: event, marketId, period, from: Math.max(0, done - overlap), to: end };
      const points = await this.#fetch(poll, query, window);
      if (!points) continue;
      if (window.mayBeTruncated(points.length)) {
        if (window.shrink()) continue;
        tally.truncated = true;
      }
      tally.requests += 1;
      for (const { time } of points) tally.times.add(time);
      tally.points += points.length;
      await poll.published();
      const fetchedFrom = state.get(marketId)?.from ?? query.from;
      const range = {
        rangeFrom: query.from * 1e6,
        rangeTo: end * 1e6,
        fetchedFrom: fetchedFrom * 1e6,
        pollId: poll.id,
      };
      void collectorEvents.write({ type: 'backfilled', stream: 'chance', event, market: marketId, ...range });
      state.set(marketId, { event, until: end, from: fetchedFrom });
      window.answered(points.length);
      done = end;
    }
  }

  /** The points of a range; undefined when the exchange rejected it and a smaller one can be requested. */
  async #fetch(poll: Poll, query: ChanceHistoryQuery, window: ChanceHistoryWindow) {
    try {
      const options = { signal: this.#stop.signal, onResponse: poll.onResponse };
      return (await this.options.client.chanceHistory(query, options)).items;
    } catch (error) {
      if (error instanceof HttpStatusError && error.status === 400 && window.shrink()) return undefined;
      throw error;
    }
  }

  #now(): number {
    return this.options.clock.nowMs() / 1000;
  }
}
