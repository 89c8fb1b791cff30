import { Random } from '../../core/index.js';
import type { EventView } from '../engine/index.js';

/** Standard deviation of a market's hidden value per second at pace 1, in log-odds. */
const STEP = 0.03;
/** Bounds of the hidden log-odds: chances stay between about 3 and 97 per cent until the end is near. */
const BOUND = 3.4;
/** In this last fraction of an event's lifetime the winner is decided, and values drift towards it. */
const FINAL_PART = 0.12;
const PULL_PER_SECOND = 0.05;

/** When an event began and when it will end, Unix micros. */
export interface EventLifetime {
  readonly begins: number;
  readonly ends: number;
}

interface EventSimulation {
  readonly event: EventView;
  readonly lifetime: EventLifetime;
  readonly random: Random;
  /** Log-odds by market; with several candidates only their differences matter. */
  readonly values: number[];
  /** Index of the winning market, -1 for none; undefined until it is decided. */
  winner: number | undefined;
}

/**
 * The hidden state of the simulation: a fair value per market that follows a random walk and decides, near an event's
 * end, which market wins. Of an event with several markets exactly one wins.
 */
export class World {
  readonly #events = new Map<string, EventSimulation>();

  constructor(private readonly seed: number) {}

  /** Adds an event, with the current chances of its markets. */
  add(event: EventView, lifetime: EventLifetime): void {
    const several = event.markets.length > 1;
    const values = event.markets.map(({ chance }) => {
      const kept = Math.min(0.97, Math.max(0.03, chance));
      return several ? Math.log(kept) : Math.log(kept / (1 - kept));
    });
    const won = event.markets.findIndex((market) => market.resolved?.winner === 'YES');
    const random = new Random(this.seed, `world/${event.eventId}`);
    this.#events.set(event.eventId, { event, lifetime, random, values, winner: won < 0 ? undefined : won });
  }

  remove(eventId: string): void {
    this.#events.delete(eventId);
  }

  /** Advances the random walks. @param seconds at pace 1 */
  advance(seconds: number, now: number): void {
    for (const simulation of this.#events.values()) {
      const { lifetime, random, values } = simulation;
      const left = (lifetime.ends - now) / Math.max(1, lifetime.ends - lifetime.begins);
      if (left < FINAL_PART) simulation.winner ??= this.#decide(simulation);
      for (const [i, value] of values.entries()) {
        const walked = value + random.normal() * STEP * Math.sqrt(seconds);
        const bounded = Math.min(BOUND, Math.max(-BOUND, walked));
        const target = simulation.winner === undefined ? bounded : simulation.winner === i ? BOUND : -BOUND;
        values[i] = bounded + (target - bounded) * Math.min(1, PULL_PER_SECOND * seconds);
      }
    }
  }

  /** The hidden chance of a market, 0..1; undefined for an unknown one. */
  fair(eventId: string, marketId: string): number | undefined {
    const simulation = this.#events.get(eventId);
    const index = simulation?.event.markets.findIndex((market) => market.marketId === marketId) ?? -1;
    return simulation && index >= 0 ? chances(simulation.values)[index] : undefined;
  }

  /** The hidden chances of all markets, 0..1, by market ID. */
  fairValues(): ReadonlyMap<string, number> {
    const values = new Map<string, number>();
    for (const { event, values: own } of this.#events.values()) {
      for (const [i, chance] of chances(own).entries()) values.set(event.markets[i]?.marketId ?? '', chance);
    }
    return values;
  }

  /** Index of the winning market (-1 for none); decides it if that has not happened yet. */
  winner(eventId: string): number {
    const simulation = this.#events.get(eventId);
    if (!simulation) return -1;
    simulation.winner ??= this.#decide(simulation);
    return simulation.winner;
  }

  #decide(simulation: EventSimulation): number {
    let left = simulation.random.next();
    for (const [i, chance] of chances(simulation.values).entries()) {
      left -= chance;
      if (left < 0) return i;
    }
    return simulation.values.length > 1 ? simulation.values.length - 1 : -1;
  }
}

function chances(values: readonly number[]): number[] {
  if (values.length === 1) return values.map((value) => 1 / (1 + Math.exp(-value)));
  const weights = values.map((value) => Math.exp(value));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
