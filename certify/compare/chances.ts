import { groupBy } from '../../core/index.js';
import { align } from '../align.js';
import { type Comparison, Differences } from '../comparison.js';
import type { RecordedStreams } from '../recorded.js';
import type { LedgerPrice, UsedFault } from '../truth.js';
import { DEAD_LETTER, LossExplainer, skipsOf } from './losses.js';
import { timeText } from './prices.js';
import { lateReceipts, REORDERED, reordersOf } from './reordered.js';

export interface ChanceInput {
  readonly prices: readonly LedgerPrice[];
  readonly openingChances: ReadonlyMap<string, number>;
  readonly recorded: Pick<RecordedStreams, 'livePoints' | 'seconds' | 'gaps' | 'deadLetters'>;
  readonly faults: readonly UsedFault[];
  /** Unix microseconds. */
  readonly recordedFrom: number;
}

export const UNRECOVERABLE = 'unrecoverable: skipped inside a second';
export const BACKFILLED = 'skipped, backfilled from history';

/** The comparisons, and what was lost. */
export interface MatchedChances {
  readonly comparisons: readonly Comparison[];
  readonly changes: readonly LedgerPrice[];
  /** Changes of a chance that were sent and not received. */
  readonly lost: readonly LedgerPrice[];
  /** All changes of a chance that were not received. */
  readonly missed: readonly LedgerPrice[];
  /** Longest time from a change to its receipt, microseconds. */
  readonly maxTransit: number;
}

/** Compares the chance of every second, and every live point, with the ledger. */
export function compareChances(input: ChanceInput): MatchedChances {
  const changes = chanceChanges(input.prices, input.openingChances);
  const { comparison, ...losses } = comparePoints(input, changes);
  return { comparisons: [compareSeconds(input, changes), comparison], changes, ...losses };
}

/** The ledger's changes of chances: those of the last price. */
function chanceChanges(prices: readonly LedgerPrice[], openingChances: ReadonlyMap<string, number>): LedgerPrice[] {
  const chances = new Map(openingChances);
  return prices.filter(({ marketId, c }) => {
    const isNew = chances.get(marketId) !== c;
    chances.set(marketId, c);
    return isNew;
  });
}

const secondOf = (micros: number): number => Math.floor(micros / 1_000_000);

/** The last value of each second, live or backfilled. */
function compareSeconds({ recorded, recordedFrom }: ChanceInput, changes: readonly LedgerPrice[]): Comparison {
  const differences = new Differences('chance of each second');
  const explainer = explainerOf(recorded, [], []);
  const last = new Map(changes.map((change) => [keyOf(change.marketId, secondOf(change.at)), change]));
  const found = new Map(recorded.seconds.map(({ market, second, chance }) => [keyOf(market, second), chance]));
  let expected = 0;
  let here = 0;
  for (const [key, change] of last) {
    const chance = found.get(key);
    if (chance !== undefined) here += 1;
    // The first second may have begun before the collector was ready.
    const isRecorded = secondOf(change.at) * 1_000_000 >= recordedFrom;
    if (!isRecorded && chance === undefined) continue;
    expected += 1;
    if (chance === change.c || !isRecorded) continue;
    const { by } = explainer.explain(change.eventId, change.at);
    if (by !== undefined) differences.explain(by);
    else {
      const text = chance === undefined ? 'has no chance' : `has the chance ${chance}`;
      differences.add(`market ${change.marketId}, ${timeText(change.at)}: expected ${change.c}; the second ${text}`);
    }
  }
  return differences.result(expected, here);
}

/** Live points; which of those that were not received were the last of their second, and so are backfilled. */
function comparePoints(input: ChanceInput, changes: readonly LedgerPrice[]) {
  const { recorded, recordedFrom, faults } = input;
  const differences = new Differences('live chance points');
  const duplicates = countBy(faults, 'duplicate-delta');
  const reorders = reordersOf(faults, 'chance');
  const truth = groupBy(changes, ({ marketId }) => marketId);
  const points = groupBy(recorded.livePoints, ({ market }) => market);
  const transits: { at: number; micros: number }[] = [];
  const missed: LedgerPrice[] = [];
  let expected = 0;
  for (const market of new Set([...truth.keys(), ...points.keys()])) {
    const own = truth.get(market) ?? [];
    const live = points.get(market) ?? [];
    const wanted = own.map(({ at, c }) => ({ value: `${secondOf(at)} ${c}`, at }));
    const here = live.map(({ second, chance, receivedAt }) => ({ value: `${second} ${chance}`, receivedAt }));
    const matches = align(wanted, here);
    const inOrder = new Set(matches);
    const late = lateReceipts({
      reorders: reorders.get(own[0]?.eventId ?? '') ?? [],
      expected: wanted,
      found: here,
      isMatched: (j) => inOrder.has(j),
      isFound: (k) => (matches[k] as number) >= 0,
    });
    const matched = new Set(late.map(({ j }) => j));
    if (late.length > 0) differences.explain(REORDERED, late.length);
    for (const [k, point] of live.entries()) {
      const j = matches[k] as number;
      if (j >= 0) {
        matched.add(j);
        const { at } = own[j] as LedgerPrice;
        transits.push({ at, micros: point.receivedAt - at });
      } else if (late.some((pair) => pair.k === k)) {
        // Explained above.
      } else if ((duplicates.get(point.event) ?? 0) > 0) {
        duplicates.set(point.event, (duplicates.get(point.event) ?? 0) - 1);
        differences.explain('sent twice');
      } else differences.add(`market ${market}, ${timeText(point.receivedAt)}: ${point.chance} is not in the ledger`);
    }
    for (const [j, change] of own.entries()) {
      const isExpected = matched.has(j) || change.at >= recordedFrom;
      if (isExpected) expected += 1;
      if (isExpected && !matched.has(j)) missed.push(change);
    }
  }
  const lastOfSecond = new Map(changes.map((change) => [keyOf(change.marketId, secondOf(change.at)), change]));
  const skips = skipsOf(faults, 'chance');
  const explainer = explainerOf(recorded, skips, transits);
  const lost: LedgerPrice[] = [];
  for (const change of missed) {
    const { by, isSkipped } = explainer.explain(change.eventId, change.at);
    if (!isSkipped && by !== DEAD_LETTER) lost.push(change);
    const isLast = lastOfSecond.get(keyOf(change.marketId, secondOf(change.at))) === change;
    if (isSkipped) differences.explain(isLast ? BACKFILLED : UNRECOVERABLE);
    else if (by !== undefined) differences.explain(by);
    else differences.add(`market ${change.marketId}, ${timeText(change.at)}: ${change.c} was not received`);
  }
  const comparison = differences.result(expected, recorded.livePoints.length);
  return { comparison, lost, missed, maxTransit: explainer.maxTransit };
}

function explainerOf(
  { gaps, deadLetters }: ChanceInput['recorded'],
  skips: readonly UsedFault[],
  transits: readonly { readonly at: number; readonly micros: number }[],
): LossExplainer {
  return new LossExplainer({
    stream: 'chance',
    gaps,
    deadLetters: deadLetters.get('chance') ?? [],
    skips,
    transits,
  });
}

/** Number of faults of a kind on the chance stream, by event. */
function countBy(faults: readonly UsedFault[], kind: string): Map<string, number> {
  const used = faults.filter((fault) => fault.kind === kind && fault.stream === 'chance');
  return new Map([...groupBy(used, ({ eventId }) => eventId ?? '')].map(([event, all]) => [event, all.length]));
}

const keyOf = (market: string, second: number): string => `${market} ${second}`;
