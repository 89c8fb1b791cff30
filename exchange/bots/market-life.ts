import type { Clock, Component, Logger } from '../../core/index.js';
import { describeError } from '../../core/index.js';
import { type EventView, type ExchangeCore, type OpenEventRequest, Random } from '../engine/index.js';
import { pacedLoop } from './paced-loop.js';
import { inventTopic, type Topic } from './topics.js';
import type { World } from './world.js';

/** Between the ends of two events at pace 1, on average. */
const BETWEEN_ENDS_MS = 90_000;
/** How soon an event that ended is followed by a new one, at pace 1. */
const VACANCY_MS = 15_000;
const TICK_MS = 250;
const TITLE_ATTEMPTS = 20;
/** How often (per event of several candidates, over its life) one of them drops out early. */
const DROP_OUTS = 0.6;

export interface MarketLifeOptions {
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

/** Opens the first events, then lets events end at their time and opens others in their place. */
export class MarketLife implements Component {
  readonly name = 'market life';
  readonly #stopped = new AbortController();
  #loop: Promise<void> | undefined;
  #unsubscribe: (() => void)[] = [];
  #vacantSince: number | undefined;
  #lastTickMs = 0;

  constructor(private readonly options: MarketLifeOptions) {}

  async start(signal: AbortSignal): Promise<void> {
    const { core, world, clock, events, pace, alive } = this.options;
    for (const event of core.events()) world.add(event);
    this.#unsubscribe = [
      core.on('eventOpened', (event) => world.add(event)),
      core.on('eventClosed', ({ eventId }) => world.drop(eventId)),
    ];
    while (core.events().length < events) this.#open();
    if (!alive || pace <= 0) return;
    this.#lastTickMs = clock.nowMs();
    const all = AbortSignal.any([signal, this.#stopped.signal]);
    this.#loop = pacedLoop(clock, 1, all, () => this.#tick());
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  #tick(): number {
    const { clock, world, pace, log } = this.options;
    const now = clock.nowMs();
    const passedMs = (now - this.#lastTickMs) * pace;
    this.#lastTickMs = now;
    try {
      world.advance(passedMs / 1000, now * 1000);
      this.#endOne(now * 1000, passedMs);
      this.#fillVacancy(now);
    } catch (error) {
      log?.warn({ cause: describeError(error) }, 'an event could not end or begin');
    }
    return TICK_MS;
  }

  /** Ends at most one event per tick, and sometimes lets a candidate drop out. */
  #endOne(nowMicros: number, passedMs: number): void {
    const { core, world } = this.options;
    const events = core.events();
    const due = events.find((event) => event.closesAt <= nowMicros);
    if (due) {
      const winner = world.winner(due.eventId);
      for (const [i, market] of due.markets.entries()) {
        if (!market.resolved) core.resolveMarket(due.eventId, market.marketId, i === winner ? 'YES' : 'NO');
      }
      return;
    }
    for (const event of events) this.#dropOut(event, passedMs);
  }

  #dropOut(event: EventView, passedMs: number): void {
    const { core, world, clock, seed, pace } = this.options;
    if (event.markets.length < 3) return;
    const lifeMs = ((event.closesAt - event.createdAt) / 1000) * pace;
    const random = new Random(seed, `${event.eventId}/${Math.floor(clock.nowMs())}`);
    if (random.next() > (passedMs / lifeMs) * DROP_OUTS) return;
    const chanceOf = (marketId: string) => world.fair(event.eventId, marketId) ?? 1;
    const open = event.markets.filter((market) => !market.resolved);
    if (open.length < 3) return;
    const [weakest] = open.toSorted((a, b) => chanceOf(a.marketId) - chanceOf(b.marketId));
    if (weakest && event.markets.indexOf(weakest) !== world.winner(event.eventId)) {
      core.resolveMarket(event.eventId, weakest.marketId, 'NO');
    }
  }

  #fillVacancy(now: number): void {
    const { core, events, pace } = this.options;
    if (core.events().length >= events) {
      this.#vacantSince = undefined;
      return;
    }
    this.#vacantSince ??= now;
    if (now - this.#vacantSince < VACANCY_MS / pace) return;
    this.#open();
    this.#vacantSince = undefined;
  }

  #open(): void {
    const { core, clock, seed, pace } = this.options;
    const open = core.events();
    const random = new Random(seed, `event/${core.eventsOpened}`);
    const between = (BETWEEN_ENDS_MS * 1000) / (pace > 0 ? pace : 1);
    const last = open.reduce((latest, event) => Math.max(latest, event.closesAt), clock.nowMs() * 1000);
    const closesAt = Math.floor(last + between * (0.7 + random.next() * 0.6));
    const result = core.openEvent({ ...describe(inventUnused(random, open), random), closesAt });
    if (!result.ok) throw new Error(`the exchange refused its own event: ${result.rejection.message}`);
  }
}

function describe(topic: Topic, random: Random): OpenEventRequest {
  const { title, category, tags, markets } = topic;
  const chances = openingChances(markets.length, random);
  const named = markets.map((name, i) => ({ name, chance: chances[i] ?? 0.5 }));
  return { title, category, tags, featured: random.next() < 0.2, markets: named };
}

/** One chance anywhere from 0.15 to 0.85, or several that add up to about 1, in whole per cent. */
function openingChances(count: number, random: Random): number[] {
  if (count === 1) return [random.integer(15, 85) / 100];
  const weights = Array.from({ length: count }, () => 0.3 + random.next());
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.round((weight / sum) * 100) / 100);
}

/** A topic whose title no open event has. */
function inventUnused(random: Random, open: readonly EventView[]): Topic {
  const titles = new Set(open.map((event) => event.title));
  let topic = inventTopic(random);
  for (let attempt = 0; attempt < TITLE_ATTEMPTS && titles.has(topic.title); attempt++) topic = inventTopic(random);
  if (!titles.has(topic.title)) return topic;
  return { ...topic, title: `${topic.title} (${open.length + 1})` };
}
