import { type Clock, type Component, describeError, type Logger, Random } from '../../core/index.js';
import type { EventView, ExchangeCore, OpenEventRequest } from '../engine/index.js';
import { inventTopic, type Topic } from './topics.js';
import type { Life, World } from './world.js';

/** Between the ends of two events at pace 1, on average. */
const BETWEEN_ENDS_MS = 90_000;
/** How soon an event that ended is followed by a new one, at pace 1. */
const VACANCY_MS = 15_000;
const TICK_MS = 250;
const TITLE_ATTEMPTS = 20;
/** How often (per event of several candidates, over its life) one of them drops out early. */
const DROP_OUTS = 0.6;

interface MarketLifeOptions {
  readonly core: ExchangeCore;
  readonly world: World;
  readonly clock: Clock;
  readonly seed: number;
  /** How many events are open at a time. */
  readonly events: number;
  readonly pace: number;
  /** Whether events end and begin by themselves after the start. */
  readonly alive: boolean;
  readonly log?: Logger;
}

interface OpenEvent {
  readonly view: EventView;
  readonly life: Life;
  /** Markets that are not resolved. */
  readonly left: Set<string>;
}

/** Opens the first events, then lets events end at their time and opens others in their place. */
export class MarketLife implements Component {
  readonly name = 'market life';
  readonly #stopped = new AbortController();
  readonly #open = new Map<string, OpenEvent>();
  readonly #titles = new Set<string>();
  #loop: Promise<void> | undefined;
  #unsubscribe: (() => void)[] = [];
  #vacantSince: number | undefined;
  #lastTickMs = 0;

  constructor(private readonly options: MarketLifeOptions) {}

  async start(signal: AbortSignal): Promise<void> {
    const { core, clock, events, pace, alive } = this.options;
    this.#unsubscribe = [
      core.on('eventOpened', (event) => this.#add(event)),
      core.on('marketResolved', ({ eventId, marketId }) => this.#open.get(eventId)?.left.delete(marketId)),
      core.on('eventClosed', ({ eventId }) => this.#drop(eventId)),
    ];
    this.#addOld(core.events());
    while (this.#open.size < events) this.#openOne();
    if (!alive || pace <= 0) return;
    this.#lastTickMs = clock.nowMs();
    const all = AbortSignal.any([signal, this.#stopped.signal]);
    this.#loop = this.#live(all);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  /** Events of an earlier run, the overdue ones with new ends: time that nobody traded in does not count. */
  #addOld(events: readonly EventView[]): void {
    const now = this.#nowMicros();
    const overdue = events.filter((event) => event.closesAt <= now);
    for (const event of events) {
      const place = overdue.indexOf(event);
      if (place < 0) this.#add(event);
      else this.#add(event, { begins: now, ends: now + (place + 1) * this.#betweenEndsMicros });
    }
  }

  #add(event: EventView, life: Life = { begins: event.createdAt, ends: event.closesAt }): void {
    const left = event.markets.filter((market) => !market.resolved).map((market) => market.marketId);
    this.#open.set(event.eventId, { view: event, life, left: new Set(left) });
    this.#titles.add(event.title);
    this.options.world.add(event, life);
  }

  #drop(eventId: string): void {
    const closed = this.#open.get(eventId);
    this.#open.delete(eventId);
    if (closed) this.#titles.delete(closed.view.title);
    this.options.world.drop(eventId);
  }

  async #live(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#tick();
      await this.options.clock.sleep(TICK_MS, signal).catch(() => undefined);
    }
  }

  #tick(): void {
    const { clock, world, pace, log } = this.options;
    const now = clock.nowMs();
    const passedMs = (now - this.#lastTickMs) * pace;
    this.#lastTickMs = now;
    try {
      world.advance(passedMs / 1000, now * 1000);
      this.#endOne(now * 1000);
      for (const event of this.#open.values()) this.#dropOut(event, now, passedMs);
      this.#fillVacancy(now);
    } catch (error) {
      log?.warn({ cause: describeError(error) }, 'an event could not end or begin');
    }
  }

  /** Ends at most one event per tick: after a long rest not all of them at once. */
  #endOne(nowMicros: number): void {
    const { core, world } = this.options;
    for (const { view, life, left } of this.#open.values()) {
      if (life.ends > nowMicros) continue;
      const winner = world.winner(view.eventId);
      for (const [i, { marketId }] of view.markets.entries()) {
        if (left.has(marketId)) core.resolveMarket(view.eventId, marketId, i === winner ? 'YES' : 'NO');
      }
      return;
    }
  }

  /** Now and then lets the weakest of several candidates drop out before the end. */
  #dropOut({ view, life, left }: OpenEvent, now: number, passedMs: number): void {
    if (left.size < 3) return;
    const { core, world, seed, pace } = this.options;
    const lifeMs = ((life.ends - life.begins) / 1000) * pace;
    const random = new Random(seed, `${view.eventId}/${Math.floor(now)}`);
    if (random.next() > (passedMs / lifeMs) * DROP_OUTS) return;
    const chanceOf = (marketId: string) => world.fair(view.eventId, marketId) ?? 1;
    const [weakest] = [...left].sort((a, b) => chanceOf(a) - chanceOf(b));
    const index = view.markets.findIndex((market) => market.marketId === weakest);
    if (weakest && index !== world.winner(view.eventId)) core.resolveMarket(view.eventId, weakest, 'NO');
  }

  #fillVacancy(now: number): void {
    const { events, pace } = this.options;
    const vacant = events - this.#open.size;
    if (vacant <= 0) {
      this.#vacantSince = undefined;
      return;
    }
    this.#vacantSince ??= now;
    if (vacant < 2 && now - this.#vacantSince < VACANCY_MS / pace) return;
    this.#openOne();
    this.#vacantSince = undefined;
  }

  #openOne(): void {
    const { core, seed } = this.options;
    const random = new Random(seed, `event/${core.eventsOpened}`);
    let last = this.#nowMicros();
    for (const { life } of this.#open.values()) last = Math.max(last, life.ends);
    const closesAt = Math.floor(last + this.#betweenEndsMicros * (0.7 + random.next() * 0.6));
    const result = core.openEvent({ ...describe(this.#inventUnused(random), random), closesAt });
    if (!result.ok) throw new Error(`the exchange refused its own event: ${result.rejection.message}`);
  }

  get #betweenEndsMicros(): number {
    const { pace } = this.options;
    return (BETWEEN_ENDS_MS * 1000) / (pace > 0 ? pace : 1);
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

/** One chance anywhere from 0.15 to 0.85, or several that add up to 1, in whole per cent. */
function openingChances(count: number, random: Random): number[] {
  if (count === 1) return [random.integer(15, 85) / 100];
  const weights = Array.from({ length: count }, () => 0.3 + random.next());
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const cents = weights.map((weight) => Math.round((weight / sum) * 100));
  // What rounding lost or won is the favourite's.
  const favourite = cents.indexOf(Math.max(...cents));
  const rest = 100 - cents.reduce((total, one) => total + one, 0);
  return cents.map((one, i) => (i === favourite ? one + rest : one) / 100);
}
