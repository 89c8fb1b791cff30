import { Random } from '../../core/index.js';
import type { EventView } from '../engine/index.js';

/** How far a market's hidden value moves in a second at pace 1, in log-odds. */
const STEP = 0.03;
/** Bounds of the hidden log-odds: chances stay between about 3 and 97 per cent until the end is near. */
const BOUND = 3.4;
/** In this last part of an event's life its outcome is known to the informed, and values run towards it. */
const FINAL_PART = 0.12;
const PULL_PER_SECOND = 0.05;

/** When an event began and will end, Unix micros. */
export interface Life {
  readonly begins: number;
  readonly ends: number;
}

interface Fate {
  readonly event: EventView;
  readonly life: Life;
  readonly random: Random;
  /** Log-odds by market; of several candidates only their differences count. */
  readonly values: number[];
  /** Index of the market that will win, -1 for none; undefined until it is decided. */
  winner: number | undefined;
}

/**
 * What will really happen, which nobody sees: a hidden fair value per market that walks at random and decides, when an
 * event's end is near, how it ends. Of an event with several markets exactly one wins.
 */
export class World {
  readonly #fates = new Map<string, Fate>();

  constructor(private readonly seed: number) {}

  /** Takes an event in, from its markets' present chances. */
  add(event: EventView, life: Life): void {
    const several = event.markets.length > 1;
    const values = event.markets.map(({ chance }) => {
      const kept = Math.min(0.97, Math.max(0.03, chance));
      return several ? Math.log(kept) : Math.log(kept / (1 - kept));
    });
    const won = event.markets.findIndex((market) => market.resolved?.winner === 'YES');
    const random = new Random(this.seed, `world/${event.eventId}`);
    this.#fates.set(event.eventId, { event, life, random, values, winner: won < 0 ? undefined : won });
  }

  drop(eventId: string): void {
    this.#fates.delete(eventId);
  }

  /** Lets time pass. @param seconds at pace 1 */
  advance(seconds: number, now: number): void {
    for (const fate of this.#fates.values()) {
      const { life, random, values } = fate;
      const left = (life.ends - now) / Math.max(1, life.ends - life.begins);
      if (left < FINAL_PART) fate.winner ??= this.#decide(fate);
      for (const [i, value] of values.entries()) {
        const walked = value + random.normal() * STEP * Math.sqrt(seconds);
        const bounded = Math.min(BOUND, Math.max(-BOUND, walked));
        const target = fate.winner === undefined ? bounded : fate.winner === i ? BOUND : -BOUND;
        values[i] = bounded + (target - bounded) * Math.min(1, PULL_PER_SECOND * seconds);
      }
    }
  }

  /** The hidden chance of a market, 0..1; undefined for one that is not known. */
  fair(eventId: string, marketId: string): number | undefined {
    const fate = this.#fates.get(eventId);
    const index = fate?.event.markets.findIndex((market) => market.marketId === marketId) ?? -1;
    return fate && index >= 0 ? chances(fate.values)[index] : undefined;
  }

  /** The hidden chances of every market that is known, 0..1, by market ID. */
  fairValues(): ReadonlyMap<string, number> {
    const values = new Map<string, number>();
    for (const { event, values: own } of this.#fates.values()) {
      for (const [i, chance] of chances(own).entries()) values.set(event.markets[i]?.marketId ?? '', chance);
    }
    return values;
  }

  /** Index of the market that wins (-1: none does), decided now if it was not yet. */
  winner(eventId: string): number {
    const fate = this.#fates.get(eventId);
    if (!fate) return -1;
    fate.winner ??= this.#decide(fate);
    return fate.winner;
  }

  #decide(fate: Fate): number {
    let left = fate.random.next();
    for (const [i, chance] of chances(fate.values).entries()) {
      left -= chance;
      if (left < 0) return i;
    }
    return fate.values.length > 1 ? fate.values.length - 1 : -1;
  }
}

function chances(values: readonly number[]): number[] {
  if (values.length === 1) return values.map((value) => 1 / (1 + Math.exp(-value)));
  const weights = values.map((value) => Math.exp(value));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
