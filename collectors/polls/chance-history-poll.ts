import PQueue from 'p-queue';
import { type ChanceHistoryQuery, type Event, HttpStatusError } from '../../client/index.js';
import { describeError } from '../../core/index.js';
import type { HistoryState } from './chance-history-state.js';
import { HistoryWindow, periodEnd, periodSeconds } from './chance-history-window.js';
import { Poll, type PollParts } from './poll.js';

export interface ChanceHistoryOptions extends PollParts {
  readonly state: HistoryState;
  /** Period code of part 6.2. */
  readonly period: string;
  /** How far back a market is fetched that is seen for the first time, days. */
  readonly days: number;
  /** How long to wait after a failure, milliseconds. Default 10,000. */
  readonly retryMs?: number;
}

/** Requests under way at once; the client paces them, and other polls find room between them. */
const CONCURRENCY = 2;
/** Periods that are asked for twice, so that every point is inside of some range and not only its anchor. */
const OVERLAP_PERIODS = 2;
/** The last period of a gap is not waited for longer than this; the schedule brings the rest. Seconds. */
const MAX_SOON_S = 10;
/** The exchange is given this long to close a period, seconds. */
const SETTLE_S = 1;

interface Tracked {
  readonly event: string;
  /** The event has left the search: one more time, then it is done. */
  closed: boolean;
  /** Wanted again while it was under way. */
  again: boolean;
  queued: boolean;
}

/** What one catch-up has brought so far. */
interface Tally {
  points: number;
  readonly times: Set<number>;
  requests: number;
  truncated: boolean;
}

/**
 * Fetches chance history (part 4.5) of every market up to now, from where it was last: whoever asks for a market — the
 * start, the schedule, a gap in the stream, the end of its event — asks for the same.
 */
export class ChanceHistoryPoll {
  readonly #queue = new PQueue({ concurrency: CONCURRENCY });
  readonly #tracked = new Map<string, Tracked>();
  readonly #stop = new AbortController();

  constructor(private readonly options: ChanceHistoryOptions) {}

  /** Follows the event's markets; new ones are fetched at once. */
  track(event: Event): void {
    const created = event.createdAt === null ? Number.NaN : Date.parse(event.createdAt) / 1000;
    const oldest = this.#now() - this.options.days * 86_400;
    const since = Number.isFinite(created) ? Math.max(oldest, created) : oldest;
    for (const { marketId } of event.markets) {
      if (!this.#tracked.has(marketId)) this.#follow(marketId, event.eventId, since);
    }
  }

  /** Brings all markets of an event up to now, or all there are. */
  refresh(eventId?: string): void {
    for (const [marketId, tracked] of this.#tracked) {
      if (eventId === undefined || tracked.event === eventId) this.#enqueue(marketId, tracked);
    }
  }

  /** The same, as soon as what happens in this moment is history. */
  refreshSoon(eventId: string): void {
    const { clock, period } = this.options;
    const waitMs = 1000 * (SETTLE_S + Math.min(periodSeconds(period), MAX_SOON_S));
    clock.sleep(waitMs, this.#stop.signal).then(
      () => this.refresh(eventId),
      () => undefined,
    );
  }

  /** The event has closed: its markets are fetched once more, to the end, and then no longer. */
  finish(eventId: string): void {
    for (const tracked of this.#tracked.values()) if (tracked.event === eventId) tracked.closed = true;
    this.refresh(eventId);
  }

  /** Markets that were followed before a restart and whose events are no longer open are fetched to their end. */
  finishOthers(open: ReadonlySet<string>): void {
    for (const [marketId, { event, until }] of this.options.state.markets) {
      if (open.has(event) || this.#tracked.has(marketId)) continue;
      this.#follow(marketId, event, until, true);
    }
  }

  /** Resolves when nothing is under way or waiting. */
  idle(): Promise<void> {
    return this.#queue.onIdle();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#queue.clear();
    await this.#queue.onIdle();
    await this.options.state.flush();
  }

  #follow(marketId: string, event: string, since: number, closed = false): void {
    const { state, period } = this.options;
    const tracked = { event, closed, again: false, queued: false };
    this.#tracked.set(marketId, tracked);
    // From now on it is known after a restart too, should the event close meanwhile.
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
      const done = await this.#catchUp(marketId, tracked);
      tracked.queued = false;
      if (this.#stop.signal.aborted) return;
      if (!done) this.#later(marketId, tracked);
      else if (tracked.again) this.#enqueue(marketId, tracked);
      else if (closing) this.#drop(marketId);
    });
  }

  #later(marketId: string, tracked: Tracked): void {
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

  /** Fetches one market from where it was to now; false when that should be tried again. */
  async #catchUp(marketId: string, tracked: Tracked): Promise<boolean> {
    const { period, state } = this.options;
    const { event } = tracked;
    // After the end of an event nothing changes any more: its last period counts although it is not over.
    const to = tracked.closed ? Math.ceil(this.#now()) : periodEnd(period, this.#now() - SETTLE_S);
    const from = state.get(marketId)?.until ?? to;
    if (from >= to) return true;
    const poll = new Poll(this.options, 'chance.history', 'chance-history', marketId, event, this.#stop.signal);
    const tally: Tally = { points: 0, times: new Set(), requests: 0, truncated: false };
    const receipt = () => {
      const { points: got, requests: pages, truncated } = tally;
      return { expected: null, got, unique: tally.times.size, pages, truncated };
    };
    try {
      await this.#walk(poll, marketId, event, from, to, tally);
    } catch (error) {
      if (this.#stop.signal.aborted) return false;
      const gone = error instanceof HttpStatusError && error.status === 404;
      poll.finish({ ...receipt(), outcome: 'failed', cause: describeError(error) });
      return gone;
    }
    const cause = tally.truncated ? 'more points in one period than an answer can hold' : '';
    poll.finish({ ...receipt(), outcome: tally.truncated ? 'incomplete' : 'complete', cause });
    return true;
  }

  async #walk(poll: Poll, marketId: string, event: string, from: number, to: number, tally: Tally): Promise<void> {
    const { period, state, marks } = this.options;
    const overlap = OVERLAP_PERIODS * periodSeconds(period);
    const window = new HistoryWindow(period);
    for (let done = from; done < to; ) {
      const end = Math.min(to, done + window.seconds);
      const query = { eventId: event, marketId, period, from: Math.max(0, done - overlap), to: end };
      const points = await this.#fetch(poll, query, window);
      if (!points) continue;
      if (window.mayBeCut(points.length)) {
        if (window.shrink()) continue;
        tally.truncated = true;
      }
      tally.requests += 1;
      for (const { time } of points) tally.times.add(time);
      tally.points += points.length;
      await poll.published();
      const range = { from: query.from * 1e6, to: end * 1e6 };
      void marks.write({ type: 'repaired', stream: 'chance', event, market: marketId, ...range, poll: poll.id });
      state.set(marketId, { event, until: end });
      window.answered(points.length);
      done = end;
    }
  }

  /** The points of a range; undefined when the exchange refused it and a smaller one can be tried. */
  async #fetch(poll: Poll, query: ChanceHistoryQuery, window: HistoryWindow) {
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
