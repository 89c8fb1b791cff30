import { groupBy } from '../../core/index.js';
import { CLOCK_MICROS } from '../align.js';
import { type Comparison, Differences } from '../comparison.js';
import { COVERAGE_RESOLUTION_MICROS } from '../coverage-resolution.js';
import type { Range, StreamCoverage } from '../recorded.js';
import type { LedgerPrice } from '../truth.js';
import { timeText } from './prices.js';

/** A process was killed; until its parent has started another one, nothing is received. */
export interface Kill {
  readonly service: string;
  /** Unix microseconds. */
  readonly at: number;
  /** At this time it had not been started again yet; absent if no such time is known. */
  readonly downUntil?: number;
}

/** What a stream sent, and which part of it was not received. */
export interface StreamLosses {
  readonly stream: 'order-book' | 'chance';
  readonly changes: readonly LedgerPrice[];
  /** Changes that were sent and not received, except those that became dead letters. */
  readonly lost: readonly LedgerPrice[];
  /** Changes that were not received, whatever the reason. */
  readonly missed: readonly LedgerPrice[];
  /** Longest time from a change to its receipt, microseconds. */
  readonly maxTransit: number;
}

export interface CoverageInput {
  readonly prices: readonly LedgerPrice[];
  readonly streams: readonly StreamLosses[];
  readonly recorded: StreamCoverage;
  readonly kills: readonly Kill[];
  /** Unix microseconds. */
  readonly recordedFrom: number;
}

const SECOND = 1_000_000;
/** A process needs at least this long to start. */
const DOWN_MICROS = 150_000;
const STREAMS = ['order-book', 'chance'] as const;

/** Whether coverage says neither more nor less than what was received. */
export function compareCoverage(input: CoverageInput): Comparison[] {
  return [compareObserved(input), compareLost(input), compareKills(input)];
}

/** In every whole second that is called observed, every change was received. */
function compareObserved({ streams, recorded, recordedFrom }: CoverageInput): Comparison {
  const differences = new Differences('observed seconds');
  let observed = 0;
  let complete = 0;
  for (const { stream, changes, lost, maxTransit } of streams) {
    const ranges = byEvent(recorded.observed, stream);
    const margin = maxTransit + CLOCK_MICROS;
    const seconds = new Set(changes.filter(({ at }) => at >= recordedFrom).map(secondOf));
    const incomplete = groupBy(lost, secondOf);
    for (const key of seconds) {
      const [event = '', second = ''] = key.split(' ');
      const begins = Number(second) * SECOND;
      const isWithin = (range: Range) => range.begins <= begins - margin && range.ends >= begins + SECOND + margin;
      if (!ranges.get(event)?.some(isWithin)) continue;
      observed += 1;
      const missing = incomplete.get(key)?.length ?? 0;
      if (missing === 0) complete += 1;
      else {
        const what = `event ${event}, ${stream}, ${timeText(begins)}`;
        differences.add(`${what}: called observed, but ${missing} changes were not received`);
      }
    }
  }
  return differences.result(observed, complete);
}

/** Every second in which a change was lost is in a gap, at least in part. */
function compareLost({ streams, recorded }: CoverageInput): Comparison {
  const differences = new Differences('seconds with lost changes');
  let expected = 0;
  let found = 0;
  for (const { stream, lost, maxTransit } of streams) {
    const gaps = byEvent(recorded.gaps, stream);
    const margin = maxTransit + CLOCK_MICROS;
    for (const key of new Set(lost.map(secondOf))) {
      expected += 1;
      const [event = '', second = ''] = key.split(' ');
      const begins = Number(second) * SECOND;
      const gap = gaps.get(event)?.find((one) => one.begins < begins + SECOND + margin && one.ends > begins - margin);
      if (gap) found += 1;
      else differences.add(`event ${event}, ${stream}, ${timeText(begins)}: changes were lost, and no gap says so`);
    }
  }
  return differences.result(expected, found);
}

const byEvent = <R extends Range>(ranges: readonly R[], stream: string): Map<string, R[]> =>
  groupBy(
    ranges.filter((range) => range.stream === stream),
    ({ event }) => event,
  );

/**
 * While the collector or the exchange was down after a kill, no open event is called observed, and all of that time is in gaps
 * of each.
 */
function compareKills({ prices, recorded, kills }: CoverageInput): Comparison {
  const differences = new Differences('gaps after kills');
  const lifetimes = new Map<string, { first: number; last: number }>();
  for (const { eventId, at } of prices) {
    const lifetime = lifetimes.get(eventId);
    if (lifetime) lifetime.last = at;
    else lifetimes.set(eventId, { first: at, last: at });
  }
  let expected = 0;
  let found = 0;
  for (const { service, at, downUntil = at } of kills.filter(
    (kill) => kill.service === 'collect' || kill.service === 'exchange',
  )) {
    const [begins, ends] = [at + CLOCK_MICROS, downUntil + DOWN_MICROS];
    const within = (range: Range, stream: string, event: string) =>
      range.stream === stream && range.event === event && range.begins < ends && range.ends > begins;
    for (const [event, { first, last }] of lifetimes) {
      if (first > at || last < ends) continue;
      for (const stream of STREAMS) {
        expected += 1;
        const isObserved = recorded.observed.some((range) => within(range, stream, event));
        const inGaps = recorded.gaps
          .filter((gap) => within(gap, stream, event))
          .reduce((sum, gap) => sum + Math.min(gap.ends, ends) - Math.max(gap.begins, begins), 0);
        const isInGap = inGaps >= ends - begins - COVERAGE_RESOLUTION_MICROS;
        if (isInGap && !isObserved) found += 1;
        else {
          const text = isObserved ? 'called observed' : `${(ends - begins - inGaps) / 1000} ms in no gap`;
          differences.add(`event ${event}, ${stream}: ${text} while ${service} was down from ${timeText(at)}`);
        }
      }
    }
  }
  return differences.result(expected, found);
}

/** Event and second of a change. */
const secondOf = ({ eventId, at }: LedgerPrice): string => `${eventId} ${Math.floor(at / SECOND)}`;
