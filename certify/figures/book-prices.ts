import { firstAfter } from '../align.js';
import type { ShownPrice } from '../compare/prices.js';
import type { Range } from '../recorded.js';
import type { PriceKind } from './questions.js';

/** What the order book of a market showed, in order of its receipt. */
export class BookPrices {
  readonly #ticks: ReadonlyMap<string, readonly ShownPrice[]>;

  /** @param shown by market, in the order of the bus */
  constructor(shown: ReadonlyMap<string, readonly ShownPrice[]>) {
    this.#ticks = new Map(
      [...shown].map(([market, ticks]) => [market, ticks.toSorted((x, y) => x.receivedAt - y.receivedAt)]),
    );
  }

  get markets(): IterableIterator<string> {
    return this.#ticks.keys();
  }

  /** Also after trading was closed: a price that was missed is received with the next subscription. */
  get lastReceivedAt(): number {
    return [...this.#ticks.values()].reduce((last, ticks) => Math.max(last, ticks.at(-1)?.receivedAt ?? 0), 0);
  }

  of(market: string): readonly ShownPrice[] {
    return this.#ticks.get(market) ?? [];
  }

  /** The last one received by then. @param moment Unix microseconds */
  at(market: string, moment: number): ShownPrice | undefined {
    const ticks = this.of(market);
    return ticks[firstAfter(ticks, ({ receivedAt }) => receivedAt > moment) - 1];
  }
}

/** 0 and 1 are the result of a resolved market, not the price of a trade. */
export const isResult = ({ price: { c } }: ShownPrice): boolean => c === 0 || c === 1;

/** NULL of an empty side. */
export const bidOf = ({ price: { b } }: ShownPrice): number | null => (b === 0 ? null : b);
export const askOf = ({ price: { a } }: ShownPrice): number | null => (a === 1 ? null : a);

/** Null where a side is empty, or the book is crossed. */
export function midOf(tick: ShownPrice): number | null {
  const [bid, ask] = [bidOf(tick), askOf(tick)];
  return bid === null || ask === null || bid > ask ? null : (bid + ask) / 2;
}

/** What a share of an outcome is worth, millionths of USDC; null where that is unknown. */
export function worthOf(tick: ShownPrice | undefined, outcome: 'YES' | 'NO', kind: PriceKind): bigint | null {
  if (tick === undefined) return null;
  const side = outcome === 'YES' ? bidOf(tick) : askOf(tick);
  const yes = { chance: tick.price.c, mid: midOf(tick), bid: side }[kind];
  if (yes === null) return null;
  const micros = BigInt(Math.round(yes * 1e6));
  return outcome === 'YES' ? micros : 1_000_000n - micros;
}

/** The times in which each event was observed on the order book stream. */
export class Observed {
  readonly #ranges = new Map<string, Range[]>();

  constructor(ranges: readonly Range[]) {
    for (const range of ranges) {
      if (range.stream !== 'order-book') continue;
      const own = this.#ranges.get(range.event);
      if (own) own.push(range);
      else this.#ranges.set(range.event, [range]);
    }
  }

  /** Whether all of a time was observed, Unix microseconds. */
  all(event: string, from: number, to: number): boolean {
    return (this.#ranges.get(event) ?? []).some(({ begins, ends }) => begins <= from && ends >= to);
  }

  /** How much of a time was observed, microseconds. */
  within(event: string, from: number, to: number): number {
    return (this.#ranges.get(event) ?? []).reduce(
      (sum, { begins, ends }) => sum + Math.max(0, Math.min(ends, to) - Math.max(begins, from)),
      0,
    );
  }
}
