import { groupBy } from '../../core/index.js';
import { align, CLOCK_MICROS, firstAfter } from '../align.js';
import { binomialTail } from '../binomial.js';
import { type Comparison, Differences } from '../comparison.js';
import type { RecordedStreams, Tick } from '../recorded.js';
import type { LedgerPrice, UsedFault } from '../truth.js';
import { DEAD_LETTER, LossExplainer, type Losses, skipsOf } from './losses.js';
import { isNear, lateReceipts, REORDERED, reordersOf } from './reordered.js';

/** Rows of the order book stream, matched with the ledger. */
export interface MatchedPrices {
  readonly comparisons: readonly Comparison[];
  /** By market, in the order of the bus, every row that is not repeated with the state of the ledger that it shows. */
  readonly shown: ReadonlyMap<string, readonly ShownPrice[]>;
  /** Changes that were not received, except those that are estimated. */
  readonly lost: readonly LedgerPrice[];
  /** All changes that were not received. */
  readonly missed: readonly LedgerPrice[];
  /** Longest time from a change to its receipt, microseconds. */
  readonly maxTransit: number;
}

export interface ShownPrice {
  /** Unix microseconds, truncated to milliseconds. */
  readonly receivedAt: number;
  readonly price: Pick<LedgerPrice, 'c' | 'b' | 'a'>;
}

export interface PriceInput {
  readonly prices: readonly LedgerPrice[];
  readonly openingChances: ReadonlyMap<string, number>;
  readonly recorded: Pick<RecordedStreams, 'ticks' | 'gaps' | 'audits' | 'loss' | 'deadLetters'>;
  readonly faults: readonly UsedFault[];
  /** Changes before are not expected: when the collector was ready, Unix microseconds. */
  readonly recordedFrom: number;
}

/** Fewer audits cannot tell whether losses are as frequent as they are estimated. */
const MIN_AUDITS = 300;
/** Observed mismatches that are less probable than this contradict the true loss rate. */
const MIN_PROBABILITY = 1e-6;
/** Longest time from a change to its receipt as a repetition. */
const MAX_REPETITION_MICROS = 2_000_000;
export const ESTIMATED = 'estimated: skipped between two audits';

/** Compares the rows of the order book stream with the ledger's changes: every one, in order. */
export function comparePrices({ prices, openingChances, recorded, faults, recordedFrom }: PriceInput): MatchedPrices {
  const changes = new Differences('price changes');
  const states = new Differences('order book states');
  const truth = groupBy(prices, ({ marketId }) => marketId);
  const ticks = groupBy(recorded.ticks, ({ market }) => market);
  const markets = new Set([...truth.keys(), ...ticks.keys()]);
  const reorders = reordersOf(faults, 'order-book');
  const matched = [...markets].map((market) => {
    const [own = [], rows = []] = [truth.get(market), ticks.get(market)];
    return matchMarket(own, rows, openingChances.get(market), reorders.get(own[0]?.eventId ?? '') ?? []);
  });
  const losses: Losses = {
    stream: 'order-book',
    gaps: recorded.gaps,
    deadLetters: recorded.deadLetters.get('order-book') ?? [],
    skips: skipsOf(faults, 'order-book'),
    transits: matched.flatMap(({ transits }) => transits),
  };
  const explainer = new LossExplainer(losses);
  const audits = groupBy(
    recorded.audits,
    ({ event }) => event,
    ({ at }) => at,
  );
  const lost: LedgerPrice[] = [];
  const missed: LedgerPrice[] = [];
  let expected = 0;
  let received = 0;
  let estimated = 0;
  /** Skipped, and found by an audit. */
  let audited = 0;
  let reordered = 0;
  for (const { truth: own, matches, repeated, reordered: outOfOrder } of matched) {
    reordered += outOfOrder;
    const isReordered = ({ eventId, at }: LedgerPrice) => reorders.get(eventId)?.some((fault) => isNear(fault, at));
    /** Whether a change was received, and looked like a repetition, because the one before it was lost or came later. */
    const isReceivedAsRepeated = (index: number): boolean => {
      const change = own[index] as LedgerPrice;
      if (matches[index] === true || (matches[index - 1] === true && !isReordered(change))) return false;
      return repeated.some((row) => isReceiptOf(row, change));
    };
    for (const [index, change] of own.entries()) {
      const isMatched = matches[index] === true;
      if (isMatched) received += 1;
      if (change.at < recordedFrom && !isMatched) continue;
      expected += 1;
      if (isMatched) continue;
      missed.push(change);
      const { by, isSkipped } = explainer.explain(change.eventId, change.at);
      if (by !== undefined) {
        if (isSkipped && by !== DEAD_LETTER) audited += 1;
        if (by !== DEAD_LETTER) lost.push(change);
        changes.explain(by);
        continue;
      }
      const isRepetition = isReceivedAsRepeated(index);
      if (isRepetition && isReordered(change)) {
        reordered += 1;
        continue;
      }
      const isReceived = (other: number) => matches[other] === true || isReceivedAsRepeated(other);
      const isOverlooked = wasOverlooked(own, index, isReceived, audits.get(change.eventId) ?? [], explainer);
      if ((isSkipped && !isOverlooked) || isRepetition) {
        estimated += 1;
        changes.explain(ESTIMATED);
        continue;
      }
      lost.push(change);
      changes.add(`${lineOf(change)}: not recorded${isOverlooked ? ', and an audit did not see it' : ''}`);
    }
  }
  let found = 0;
  let snapshots = 0;
  for (const { unmatchedTicks, unmatchedStates, deltas, states: count } of matched) {
    found += deltas;
    snapshots += count;
    for (const tick of unmatchedTicks) changes.add(`${rowOf(tick)}: not in the ledger, or out of order`);
    for (const tick of unmatchedStates) states.add(`${rowOf(tick)}: never was the state of the market`);
  }
  if (reordered > 0) changes.explain(REORDERED, reordered);
  // To an audit, a change that was received before its predecessor is lost.
  if (estimated > 0) judgeEstimate(changes, recorded.loss, estimated + reordered + audited, received);
  return {
    comparisons: [changes.result(expected, found), states.result(snapshots, snapshots)],
    shown: new Map(matched.map(({ market, shown }) => [market, shown])),
    lost,
    missed,
    maxTransit: explainer.maxTransit,
  };
}

/** Whether the audits found as many mismatches as the true loss rate makes probable. */
function judgeEstimate(
  changes: Differences,
  { audits, samples, missed }: RecordedStreams['loss'],
  lost: number,
  received: number,
) {
  if (audits < MIN_AUDITS) {
    changes.add(`${lost} changes are estimated, from ${audits} audits only; ${MIN_AUDITS} are needed: run for longer`);
    return;
  }
  const rate = lost / (lost + received);
  const probability = binomialTail(samples, missed, rate);
  if (probability < MIN_PROBABILITY) {
    changes.add(
      `audits found ${missed} of ${samples} changed markets unequal; at the true loss rate ${rate.toPrecision(3)} that has a probability of ${probability.toPrecision(3)}`,
    );
  }
}

interface MatchedMarket {
  readonly market: string;
  readonly truth: readonly LedgerPrice[];
  /** By index of `truth`. */
  readonly matches: readonly boolean[];
  readonly transits: readonly { readonly at: number; readonly micros: number }[];
  readonly shown: readonly ShownPrice[];
  readonly repeated: readonly { readonly value: string; readonly receivedAt: number }[];
  /** Number of changes that were received before or after their turn. */
  readonly reordered: number;
  readonly unmatchedTicks: readonly Tick[];
  readonly unmatchedStates: readonly Tick[];
  readonly deltas: number;
  readonly states: number;
}

function matchMarket(
  truth: readonly LedgerPrice[],
  rows: readonly Tick[],
  openingChance: number | undefined,
  reorders: readonly UsedFault[],
): MatchedMarket {
  const expected = truth.map((change) => ({ value: ledgerValue(change), at: change.at }));
  const deltas = rows.filter(({ source, repeated }) => source === 'delta' && !repeated);
  const found = align(
    expected,
    deltas.map((tick) => ({ value: tickValue(tick), receivedAt: tick.receivedAt })),
  );
  const matches = new Array<boolean>(truth.length).fill(false);
  const indexOf = new Map<Tick, number>();
  const transits: { at: number; micros: number }[] = [];
  for (const [k, tick] of deltas.entries()) {
    const j = found[k] as number;
    if (j < 0) continue;
    matches[j] = true;
    indexOf.set(tick, j);
    const { at } = truth[j] as LedgerPrice;
    transits.push({ at, micros: tick.receivedAt - at });
  }
  const late = lateReceipts({
    reorders,
    expected,
    found: deltas.map((tick) => ({ value: tickValue(tick), receivedAt: tick.receivedAt })),
    isMatched: (j) => matches[j] === true,
    isFound: (k) => (found[k] as number) >= 0,
  });
  const lateIndexOf = new Map(late.map(({ k, j }) => [deltas[k] as Tick, j]));
  for (const { j } of late) matches[j] = true;
  const opening = { c: openingChance ?? -1, b: 0, a: 1 };
  const stateAt = (j: number) => (j < 0 ? opening : (truth[j] as LedgerPrice));
  const nextMatched = nextIndexes(rows, indexOf, truth.length);
  const shown: ShownPrice[] = [];
  const unmatchedStates: Tick[] = [];
  let before = -1;
  for (const [i, tick] of rows.entries()) {
    before = indexOf.get(tick) ?? before;
    if (tick.repeated) continue;
    if (tick.source === 'delta') {
      const shownIndex = indexOf.get(tick) ?? lateIndexOf.get(tick);
      if (shownIndex !== undefined) shown.push({ receivedAt: tick.receivedAt, price: stateAt(shownIndex) });
      continue;
    }
    // The latest state that had been reached, between the changes received before and after it.
    const made = firstAfter(truth, ({ at }) => at > tick.receivedAt + CLOCK_MICROS) - 1;
    let j = Math.min((nextMatched[i] as number) - 1, made);
    while (j >= before && ledgerValue(stateAt(j)) !== tickValue(tick)) j -= 1;
    if (j < before) unmatchedStates.push(tick);
    else shown.push({ receivedAt: tick.receivedAt, price: stateAt(j) });
  }
  return {
    market: truth[0]?.marketId ?? rows[0]?.market ?? '',
    truth,
    matches,
    transits,
    shown,
    repeated: rows
      .filter(({ repeated }) => repeated)
      .map((tick) => ({ value: tickValue(tick), receivedAt: tick.receivedAt })),
    reordered: late.length,
    unmatchedTicks: deltas.filter((tick) => !indexOf.has(tick) && !lateIndexOf.has(tick)),
    unmatchedStates,
    deltas: deltas.length,
    states: rows.length - deltas.length - rows.filter(({ repeated }) => repeated).length,
  };
}

/** By row, the index of the ledger's change that the next matched row shows; the number of changes when there is none. */
function nextIndexes(rows: readonly Tick[], indexOf: ReadonlyMap<Tick, number>, end: number): number[] {
  const next = new Array<number>(rows.length);
  let after = end;
  for (let i = rows.length - 1; i >= 0; i--) {
    next[i] = after;
    after = indexOf.get(rows[i] as Tick) ?? after;
  }
  return next;
}

/**
 * Whether an audit should have found a lost change: it was made before a later change was received, while the exchange had
 * another price than the last one received. Two lost changes may bring the price back: then an audit is right to see nothing.
 */
function wasOverlooked(
  truth: readonly LedgerPrice[],
  index: number,
  isReceived: (index: number) => boolean,
  audits: readonly number[],
  { maxTransit }: LossExplainer,
): boolean {
  const { at } = truth[index] as LedgerPrice;
  const known = truth.findLast((_, i) => i < index && isReceived(i));
  const next = truth.find((_, i) => i > index && isReceived(i))?.at ?? Number.POSITIVE_INFINITY;
  // What the exchange may have responded with: its price when the response was sent, which was up to maxTransit before.
  const differed = (audit: number): boolean => {
    const before = truth.findLastIndex((price) => price.at <= audit - maxTransit);
    const sent = truth.filter((price, i) => i >= before && price.at <= audit);
    return known === undefined || sent.every((price) => ledgerValue(price) !== ledgerValue(known));
  };
  return audits.some((audit) => audit > at + maxTransit && audit < next && differed(audit));
}

/** Whether a row that equals its predecessor may be the receipt of a change: the one between the two was lost. */
const isReceiptOf = (row: { readonly value: string; readonly receivedAt: number }, change: LedgerPrice): boolean =>
  row.value === ledgerValue(change) &&
  row.receivedAt >= change.at - CLOCK_MICROS &&
  row.receivedAt <= change.at + MAX_REPETITION_MICROS;

const priceText = (price: number | null): string => (price === null ? 'none' : String(price));
const textOf = (c: number, b: number | null, a: number | null): string => `${c} ${priceText(b)} ${priceText(a)}`;
/** A side without orders is 0 or 1 in the ledger and NULL in the rows. */
const ledgerValue = ({ c, b, a }: Pick<LedgerPrice, 'c' | 'b' | 'a'>): string =>
  textOf(c, b === 0 ? null : b, a === 1 ? null : a);
const tickValue = ({ last, bid, ask }: Tick): string => textOf(last, bid, ask);
const lineOf = (change: LedgerPrice): string =>
  `market ${change.marketId}, ${timeText(change.at)}, last, bid and ask ${ledgerValue(change)}`;
const rowOf = (tick: Tick): string =>
  `market ${tick.market}, received ${timeText(tick.receivedAt)}, ${tickValue(tick)}`;

/** Unix microseconds as ISO time. */
export function timeText(micros: number): string {
  const fraction = String(Math.floor(micros) % 1_000_000).padStart(6, '0');
  return `${new Date(micros / 1000).toISOString().slice(0, 19)}.${fraction}`;
}
