import type { ShownPrice } from '../compare/prices.js';
import { type BookPrices, isResult, type Observed } from './book-prices.js';

const SECOND = 1_000_000;

/** The last price received by a time. */
export interface Sample {
  /** Unix microseconds. */
  readonly at: number;
  readonly tick: ShownPrice;
  /** Whether the event was observed from its receipt until then. */
  readonly isObserved: boolean;
}

interface Sampled {
  readonly prices: BookPrices;
  readonly observed: Observed;
  readonly events: ReadonlyMap<string, string>;
  /** Unix seconds. */
  readonly times: { readonly from: number; readonly to: number };
}

/** The prices of a market at the multiples of a number of seconds, from its first price until it is resolved. */
export function samplesOf({ prices, observed, events, times }: Sampled, market: string, seconds: number): Sample[] {
  const step = seconds * SECOND;
  const result = prices.of(market).find(isResult)?.receivedAt ?? Number.POSITIVE_INFINITY;
  const samples: Sample[] = [];
  for (let at = Math.ceil(times.from / seconds) * step; at < Math.min(times.to * SECOND, result); at += step) {
    const tick = prices.at(market, at);
    if (tick === undefined) continue;
    samples.push({ at, tick, isObserved: observed.all(events.get(market) ?? '', tick.receivedAt, at) });
  }
  return samples;
}
