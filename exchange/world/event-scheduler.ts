import { type Clock, type Component, describeError, type Logger, Random } from '../../core/index.js';
import type { EventView, ExchangeCore, OpenEventRequest } from '../engine/index.js';
import { inventTopic, type Topic } from './topics.js';
import type { EventLifetime, World } from './world.js';

/** Mean interval between the ends of two events at pace 1. */
const MEAN_END_INTERVAL_MS = 90_000;
/** Delay between the end of an event and the start of the next, at pace 1. */
const REOPEN_DELAY_MS = 15_000;
const TICK_MS = 250;
const TITLE_ATTEMPTS = 20;
/** Expected number of markets resolved early, per event with several, over its lifetime. */
const EARLY_RESOLUTIONS = 0.6;

interface EventSchedulerOptions {
  readonly core: ExchangeCore;
  readonly world: World;
  /** While it is not open, no event opens or ends. */
  readonly trading: { readonly open: boolean };
  readonly clock: Clock;
  readonly seed: number;
  /** Number of events that are open at the same time. */
  readonly events: number;
  readonly pace: number;
  /** Whether events end, and others open in their place, after the start. */
  readonly reopen: boolean;
  readonly log?: Logger;
}

interface OpenEvent {
  readonly view: EventView;
  readonly lifetime: EventLifetime;
  /** Unresolved markets. */
  readonly left: Set<string>;
}

/** Opens the first events, resolves each at its end and opens another in its place. */
export class EventScheduler implements Component {
  readonly name = 'event scheduler';
  readonly #stopped = new AbortController();
  readonly #open = new Map<string, OpenEvent>();
  readonly #titles = new Set<string>();
  #loop: Promise<void> | undefined;
  #unsubscribe: (() => void)[] = [];
  #belowSince: number | undefined;
  #lastTickMs = 0;

  constructor(private readonly options: EventSchedulerOptions) {}

  async start(signal: AbortSignal): Promise<void> {
    const { core, clock, events, pace, reopen } = this.options;
    this.#unsubscribe = [
      core.on('eventOpened', (event) => this.#add(event)),
      core.on('marketResolved', ({ eventId, marketId }) => this.#open.get(eventId)?.left.delete(marketId)),
      core.on('eventClosed', ({ eventId }) => this.#remove(eventId)),
    ];
    this.#restore(core.events());
    while (this.#open.size < events) this.#openOne();
    if (!reopen || pace <= 0) return;
    this.#lastTickMs = clock.nowMs();
    const all = AbortSignal.any([signal, this.#stopped.signal]);
    this.#loop = this.#run(all);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  /** Adds the events of an earlier run. Overdue ones get a new end: time without trading does not count. */
  #restore(events: readonly EventView[]): void {
    const now = this.#nowMicros();
    const overdue = events.filter((event) => event.closesAt <= now);
    for (const event of events) {
      const position = overdue.indexOf(event);
      if (position < 0) this.#add(event);
      else this.#add(event, { begins: now, ends: now + (position + 1) * this.#meanEndIntervalMicros });
    }
  }

  #add(event: EventView, lifetime: EventLifetime = { begins: event.createdAt, ends: event.closesAt }): void {
    const left = event.markets.filter((market) => !market.resolved).map((market) => market.marketId);
    this.#open.set(event.eventId, { view: event, lifetime, left: new Set(left) });
    this.#titles.add(event.title);
    this.options.world.add(event, lifetime);
  }

  #remove(eventId: string): void {
    const closed = this.#open.get(eventId);
    this.#open.delete(eventId);
    if (closed) this.#titles.delete(closed.view.title);
    this.options.world.remove(eventId);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#tick();
      await this.options.clock.sleep(TICK_MS, signal).catch(() => undefined);
    }
  }

  #tick(): void {
    const { clock, world, trading, pace, log } = this.options;
    const now = clock.nowMs();
    const passedMs = (now - this.#lastTickMs) * pace;
    this.#lastTickMs = now;
    if (!trading.open) return;
    try {
      world.advance(passedMs / 1000, now * 1000);
      this.#resolveOne(now * 1000);
      for (const event of this.#open.values()) this.#resolveEarly(event, now, passedMs);
      this.#reopenOne(now);
    } catch (error) {
      log?.warn({ cause: describeError(error) }, 'could not resolve or open an event');
    }
  }

  /** Resolves at most one event per tick, so that after a long pause they do not all end at once. */
  #resolveOne(nowMicros: number): void {
    const { core, world } = this.options;
    for (const { view, lifetime, left } of this.#open.values()) {
      if (lifetime.ends > nowMicros) continue;
      const winner = world.winner(view.eventId);
      for (const [i, { marketId }] of view.markets.entries()) {
        if (left.has(marketId)) core.resolveMarket(view.eventId, marketId, i === winner ? 'YES' : 'NO');
      }
      return;
    }
  }

  /** Occasionally resolves the least likely of several markets to NO before the end. */
  #resolveEarly({ view, lifetime, left }: OpenEvent, now: number, passedMs: number): void {
    if (left.size < 3) return;
    const { core, world, seed, pace } = this.options;
    const lifetimeMs = ((lifetime.ends - lifetime.begins) / 1000) * pace;
    const random = new Random(seed, `${view.eventId}/${Math.floor(now)}`);
    if (random.next() > (passedMs / lifetimeMs) * EARLY_RESOLUTIONS) return;
    const chanceOf = (marketId: string) => world.fair(view.eventId, marketId) ?? 1;
    const [weakest] = [...left].sort((a, b) => chanceOf(a) - chanceOf(b));
    const index = view.markets.findIndex((market) => market.marketId === weakest);
    if (weakest && index !== world.winner(view.eventId)) core.resolveMarket(view.eventId, weakest, 'NO');
  }

  #reopenOne(now: number): void {
    const { events, pace } = this.options;
    const missing = events - this.#open.size;
    if (missing <= 0) {
      this.#belowSince = undefined;
      return;
    }
    this.#belowSince ??= now;
    if (missing < 2 && now - this.#belowSince < REOPEN_DELAY_MS / pace) return;
    this.#openOne();
    this.#belowSince = undefined;
  }

  #openOne(): void {
    const { core, seed } = this.options;
    const random = new Random(seed, `event/${core.eventsOpened}`);
    let last = this.#nowMicros();
    for (const { lifetime } of this.#open.values()) last = Math.max(last, lifetime.ends);
    const closesAt = Math.floor(last + this.#meanEndIntervalMicros * (0.7 + random.next() * 0.6));
    const result = core.openEvent({ ...describe(this.#inventUnused(random), random), closesAt });
    if (!result.ok) throw new Error(`the exchange rejected its own event: ${result.rejection.message}`);
  }

  get #meanEndIntervalMicros(): number {
    const { pace } = this.options;
    return (MEAN_END_INTERVAL_MS * 1000) / (pace > 0 ? pace : 1);
  }

  #nowMicros(): number {
    return Math.floor(this.options.clock.nowMs() * 1000);
  }

  /** A topic whose title no open event has. */
  #inventUnused(random: Random): Topic {
    let topic = inventTopic(random);
    for (let attempt = 0; attempt < TITLE_ATTEMPTS && this.#titles.has(topic.title); attempt++) {
      topic = inventTopic(random);
    }
    if (!this.#titles.has(topic.title)) return topic;
    return { ...topic, title: `${topic.title} (${this.options.core.eventsOpened + 1})` };
  }
}

function describe(topic: Topic, random: Random): OpenEventRequest {
  const { title, category, tags, markets } = topic;
  const chances = openingChances(markets.length, random);
  const named = markets.map((name, i) => ({ name, chance: chances[i] ?? 0.5 }));
  return { title, category, tags, featured: random.next() < 0.2, markets: named };
}

/** One chance from 0.15 to 0.85, or several that add up to 1, in whole per cent. */
function openingChances(count: number, random: Random): number[] {
  if (count === 1) return [random.integer(15, 85) / 100];
  const weights = Array.from({ length: count }, () => 0.3 + random.next());
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const cents = weights.map((weight) => Math.round((weight / sum) * 100));
  // The favourite absorbs the rounding difference.
  const favourite = cents.indexOf(Math.max(...cents));
  const rest = 100 - cents.reduce((total, one) => total + one, 0);
  return cents.map((one, i) => (i === favourite ? one + rest : one) / 100);
}
