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

/** From when to when `coverage` says that a market's order book was watched, Unix microseconds. */
export interface WatchedMarket {
  readonly market: string;
  readonly begins: number;
  readonly ends: number;
  /** Why it ended. */
  readonly cause: string;
}

/** A row of `coverage`; times are Unix microseconds. */
export interface CoverageRow extends Omit<WatchedMarket, 'market'> {
  readonly markets: readonly string[];
}

/** From the first row to the last of each market: what lies between them had to be watched. Rows in order of their end. */
export function watchedMarkets(rows: readonly CoverageRow[]): WatchedMarket[] {
  const watched = new Map<string, WatchedMarket>();
  for (const { markets, begins, ends, cause } of rows) {
    for (const market of markets) {
      const first = watched.get(market)?.begins ?? begins;
      watched.set(market, { market, begins: Math.min(first, begins), ends, cause });
    }
  }
  return [...watched.values()];
}

/** What a run recorded, and what it had to record. */
export interface RecordedPrices {
  readonly truth: readonly PriceChange[];
  readonly watched: readonly WatchedMarket[];
  /** Of each market in the order of the bus. */
  readonly ticks: readonly Tick[];
  /** When the collector was ready, and when it was asked to stop, by the clock of the test, Unix microseconds. */
  readonly startedAt: number;
  readonly stoppedAt: number;
}

/** A change so near to the subscription or to the stop may be in the first state, or on its way when the socket ends. */
export const MARGIN_MICROS = 1_000_000;
/** How long a new market may take until it is watched: the search that finds it runs once a second. */
export const DISCOVERY_MICROS = 3_000_000;

/**
 * Looks for each market of the truth whether the recorded changes are an unbroken run of its changes that has every one
 * from its subscription to its end. Answers what is wrong, a line each, and how many changes were compared.
 */
export function compareWatched({ truth, watched, ticks, startedAt, stoppedAt }: RecordedPrices): {
  readonly faults: readonly string[];
  readonly compared: number;
} {
  const watchedByMarket = new Map(watched.map((range) => [range.market, range]));
  const ticksByMarket = groupBy(ticks, ({ market }) => market);
  const truthByMarket = groupBy(truth, ({ marketId }) => marketId);
  const faults = [...ticksByMarket.keys()]
    .filter((market) => !truthByMarket.has(market) && ticksByMarket.get(market)?.some(isDelta))
    .map((market) => `${market} has changes that never were`);
  let compared = 0;
  for (const [market, changes] of truthByMarket) {
    const range = watchedByMarket.get(market);
    if (!range) {
      // Its event may have ended before the collector began, or begun when that was about to end.
      const [from, to] = [startedAt + DISCOVERY_MICROS, stoppedAt - DISCOVERY_MICROS];
      if (changes.some(({ at }) => at > from && at < to)) faults.push(`${market} was never watched`);
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

/** What is watched ends with its event, or with the collector. */
function endFault({ ends, cause }: WatchedMarket, stoppedAt: number): string | undefined {
  if (cause.startsWith('unsubscribed') || ends > stoppedAt - MARGIN_MICROS) return undefined;
  return `was watched until ${stoppedAt - ends} µs before the stop: ${cause}`;
}

function runFault(changes: readonly PriceChange[], own: readonly Tick[], range: WatchedMarket): string | undefined {
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

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
