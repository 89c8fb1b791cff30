import { groupBy } from '../../core/index.js';
import type { PriceChange } from './rig.js';

/** A row of `price_ticks`. */
export interface Tick {
  readonly market: string;
  readonly source: 'snapshot' | 'delta';
  readonly last: number;
  readonly bid: number | null;
  readonly ask: number | null;
  /** Received, Unix microseconds. */
  readonly at: number;
}

/** A range of `coverage` in which a market's order book was observed, Unix microseconds. */
export interface ObservedMarket {
  readonly market: string;
  readonly begins: number;
  readonly ends: number;
  /** Why it ended. */
  readonly cause: string;
}

/** A row of `coverage`; times are Unix microseconds. */
export interface CoverageRow extends Omit<ObservedMarket, 'market'> {
  readonly markets: readonly string[];
}

/** From the first row to the last of each market, which must be observed in between. Rows in order of their end. */
export function observedMarkets(rows: readonly CoverageRow[]): ObservedMarket[] {
  const observed = new Map<string, ObservedMarket>();
  for (const { markets, begins, ends, cause } of rows) {
    for (const market of markets) {
      const first = observed.get(market)?.begins ?? begins;
      observed.set(market, { market, begins: Math.min(first, begins), ends, cause });
    }
  }
  return [...observed.values()];
}

/** The recorded and the expected changes of a run. */
export interface RecordedPrices {
  readonly truth: readonly PriceChange[];
  readonly observed: readonly ObservedMarket[];
  /** By market, in the order of the bus. */
  readonly ticks: readonly Tick[];
  /** Two searches all of whose events were observed, and the collector's shutdown, Unix microseconds. */
  readonly startedAt: number;
  readonly searchedAt: number;
  readonly stoppedAt: number;
}

/** A change this close to the subscription may be in the initial snapshot; one this close to the stop may be in transit. */
const MARGIN_MICROS = 1_000_000;

/**
 * Checks for each market of the truth that the recorded changes are a contiguous sequence of its changes, complete from its
 * subscription to its end. Returns the faults, a line each, and the number of compared changes.
 */
export function compareObserved({ truth, observed, ticks, startedAt, searchedAt, stoppedAt }: RecordedPrices): {
  readonly faults: readonly string[];
  readonly compared: number;
} {
  const observedByMarket = new Map(observed.map((range) => [range.market, range]));
  const ticksByMarket = groupBy(ticks, ({ market }) => market);
  const truthByMarket = groupBy(truth, ({ marketId }) => marketId);
  const faults = [...ticksByMarket.keys()]
    .filter((market) => !truthByMarket.has(market) && ticksByMarket.get(market)?.some(isDelta))
    .map((market) => `${market} has changes that never were`);
  let compared = 0;
  for (const [market, changes] of truthByMarket) {
    const range = observedByMarket.get(market);
    if (!range) {
      // Its event may have ended before the first search, or begun after the second one.
      if (changes.some(({ at }) => at > startedAt && at < searchedAt)) faults.push(`${market} was never observed`);
      continue;
    }
    const own = (ticksByMarket.get(market) ?? []).filter(isDelta);
    compared += own.length;
    const fault = endFault(range, stoppedAt) ?? runFault(changes, own, range);
    if (fault) faults.push(`${market} ${fault}`);
  }
  return { faults, compared };
}

const isDelta = ({ source }: Tick): boolean => source === 'delta';

/** Observation ends with the event, or with the collector. */
function endFault({ ends, cause }: ObservedMarket, stoppedAt: number): string | undefined {
  if (cause.startsWith('unsubscribed') || ends > stoppedAt - MARGIN_MICROS) return undefined;
  return `was observed until ${stoppedAt - ends} µs before the stop: ${cause}`;
}

function runFault(changes: readonly PriceChange[], own: readonly Tick[], range: ObservedMarket): string | undefined {
  const [begins, ends] = [range.begins + MARGIN_MICROS, range.ends - MARGIN_MICROS];
  const needed = changes.flatMap(({ at }, index) => (at > begins && at < ends ? [index] : []));
  const [from, to] = [needed[0] ?? changes.length, needed.at(-1) ?? -1];
  const [shown, happened] = [own.map(shapeOfTick), changes.map(shapeOfChange)];
  const earliest = changes.findIndex(({ at }) => at > range.begins - MARGIN_MICROS);
  let fits = false;
  for (let start = Math.max(0, earliest); start + shown.length <= happened.length; start++) {
    if (!shown.every((text, index) => text === happened[start + index])) continue;
    if (needed.length === 0 || (start <= from && start + shown.length > to)) return undefined;
    fits = true;
  }
  const kept = `of ${needed.length} changes that had to be there; ${shown.length} were recorded`;
  return fits ? `lacks some ${kept}` : `has other changes than the truth, ${kept}`;
}

/** A side without orders is 0 or 1 in the truth and NULL in the ticks. */
const shapeOfTick = ({ last, bid, ask }: Tick): string => `${last} ${bid ?? 'none'} ${ask ?? 'none'}`;
const shapeOfChange = ({ c, b, a }: PriceChange): string => `${c} ${b === 0 ? 'none' : b} ${a === 1 ? 'none' : a}`;
