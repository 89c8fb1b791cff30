import { groupBy } from '../../core/index.js';
import { CLOCK_MICROS } from '../align.js';
import { type Comparison, Differences } from '../comparison.js';
import type { Gap } from '../recorded.js';
import type { LedgerPrice, UsedFault } from '../truth.js';
import type { CoverageInput, Kill, StreamLosses } from './coverage.js';
import { timeText } from './prices.js';

export interface MissingInput extends CoverageInput {
  readonly faults: readonly UsedFault[];
}

const SECOND = 1_000_000;
/** Faults that end or silence a connection, and with it the subscriptions of all events on it. */
const OF_CONNECTION = ['drop-connection', 'freeze', 'oversized-frame', 'late-history'];
/** Faults that make the collector's price of an event differ from that of the exchange, or make it unreadable. */
const OF_EVENT = ['skip-delta', 'reorder-deltas', 'malformed-frame', 'rename-field', 'number-as-text', 'clock-skew'];
/** REST faults that may make an open event look closed. */
const OF_LISTING = ['stale-rest'];

/** Causes of ranges that no fault has to explain. */
const STATED: readonly (readonly [cause: string, by: string])[] = [
  ['not yet subscribed', 'not yet subscribed'],
  ['after the last heartbeat', 'after the last heartbeat'],
  ['stale: changes were read up to', 'changes were read late'],
  ['the collector stopped', 'the collector stopped'],
];
const BACKFILLED = 'backfilled';
const CLOSED = 'the event has closed';

/** Causes with which changes may have been received that are not called observed: their subscription could not be verified. */
const UNVERIFIED = ['stale:', 'diverged'];
const NO_HEARTBEAT = 'no further heartbeat';
/** There is one every second; on a busy machine it is durable later. */
const HEARTBEAT_MICROS = 5 * SECOND;

/** Whether coverage calls missing only what was lost, or could not be verified, because of a fault or a kill. */
export const compareMissing = (input: MissingInput): Comparison[] => [compareRanges(input), compareSeconds(input)];

/** Every range that is not observed has a fault or a kill in it that loses data of its event, or a stated reason. */
function compareRanges({ streams, recorded, faults, kills, prices }: MissingInput): Comparison {
  const differences = new Differences('missing ranges');
  const lastChanges = new Map(prices.map(({ eventId, at }) => [eventId, at]));
  const losses = kills.filter(losesData);
  let expected = 0;
  let found = 0;
  for (const { stream, maxTransit } of streams) {
    const margin = maxTransit + CLOCK_MICROS;
    for (const [event, gaps] of byEvent(recorded.gaps, stream)) {
      for (const { begins, ends, parts } of stretchesOf(gaps)) {
        const within = ({ at }: { readonly at: number }) => at >= begins - margin && at <= ends + margin;
        const isExplained = losses.some(within) || faults.some((one) => within(one) && harms(one, stream, event));
        for (const gap of parts) {
          expected += 1;
          // The gap of an event that closed after the last heartbeat ends before the kill.
          const isOfKill = gap.cause.startsWith(NO_HEARTBEAT) && losses.some(isInOrShortlyAfter(gap.begins));
          const by = statedReason(gap, (lastChanges.get(event) ?? 0) <= gap.begins + margin);
          if ((isExplained || isOfKill) && isMissing(gap)) found += 1;
          else if (by !== undefined) differences.explain(by);
          else {
            const seconds = (gap.ends - gap.begins) / SECOND;
            differences.add(
              `event ${event}, ${stream}, ${seconds} s from ${timeText(gap.begins)}: called missing (${gap.cause}), and no fault explains it`,
            );
          }
        }
      }
    }
  }
  return differences.result(expected, found);
}

/** In every whole second that is called missing, a change was lost, if any was made. */
function compareSeconds({ streams, recorded, kills, recordedFrom }: MissingInput): Comparison {
  const differences = new Differences('missing seconds');
  let expected = 0;
  let found = 0;
  for (const { stream, changes, missed, maxTransit } of streams) {
    const margin = maxTransit + CLOCK_MICROS;
    const made = new Set(changes.filter(({ at }) => at >= recordedFrom).map(secondOf));
    const incomplete = new Set(missed.map(secondOf));
    for (const gap of recorded.gaps.filter((one) => one.stream === stream && isMissing(one))) {
      for (const begins of wholeSeconds(gap.begins + margin, gap.ends - margin)) {
        const key = keyOf(gap.event, begins);
        if (!made.has(key)) continue;
        expected += 1;
        if (incomplete.has(key)) found += 1;
        else if (UNVERIFIED.some((cause) => gap.cause.startsWith(cause))) {
          differences.explain(`received, but not verified: ${gap.cause.split(':')[0]}`);
        } else if (gap.cause.startsWith(NO_HEARTBEAT) && kills.some(isInOrShortlyAfter(begins))) {
          differences.explain('received after the last heartbeat before a kill');
        } else {
          const what = `event ${gap.event}, ${stream}, ${timeText(begins)}`;
          differences.add(`${what}: called missing (${gap.cause}), but every change was received`);
        }
      }
    }
  }
  return differences.result(expected, found);
}

/** Whether a process was killed so shortly after a moment that there may have been no heartbeat in between. */
const isInOrShortlyAfter =
  (begins: number) =>
  ({ at }: Kill): boolean =>
    at >= begins && at <= begins + HEARTBEAT_MICROS;

const isMissing = ({ state = 'missing', cause }: Gap): boolean => state === 'missing' && cause !== 'not yet subscribed';

function statedReason({ state, cause }: Gap, isUnchanged: boolean): string | undefined {
  if (state === BACKFILLED) return BACKFILLED;
  if (cause.startsWith('unsubscribed') && isUnchanged) return CLOSED;
  return STATED.find(([begin]) => cause.startsWith(begin))?.[1];
}

/** ClickHouse and the worker lose nothing. */
const losesData = ({ service }: Kill): boolean => service === 'collect' || service === 'exchange';

function harms({ kind, stream, eventId }: UsedFault, ofStream: StreamLosses['stream'], event: string): boolean {
  if (stream === 'rest') return OF_LISTING.includes(kind);
  if (stream !== ofStream) return false;
  return OF_CONNECTION.includes(kind) || (OF_EVENT.includes(kind) && (eventId === undefined || eventId === event));
}

/** Ranges that follow each other without a break. */
interface Stretch {
  readonly begins: number;
  ends: number;
  readonly parts: Gap[];
}

/** A gap is divided where history was fetched, and at midnight: the fault that caused it is in one of its parts. */
function stretchesOf(gaps: readonly Gap[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const gap of gaps.toSorted((a, b) => a.begins - b.begins)) {
    const last = stretches.at(-1);
    if (last && gap.begins <= last.ends) {
      last.ends = Math.max(last.ends, gap.ends);
      last.parts.push(gap);
    } else stretches.push({ begins: gap.begins, ends: gap.ends, parts: [gap] });
  }
  return stretches;
}

const byEvent = (gaps: readonly Gap[], stream: string): Map<string, Gap[]> =>
  groupBy(
    gaps.filter((gap) => gap.stream === stream),
    ({ event }) => event,
  );

function wholeSeconds(from: number, to: number): number[] {
  const first = Math.ceil(from / SECOND);
  const count = Math.max(0, Math.floor(to / SECOND) - first);
  return Array.from({ length: count }, (_, number) => (first + number) * SECOND);
}

const keyOf = (event: string, at: number): string => `${event} ${Math.floor(at / SECOND)}`;
const secondOf = ({ eventId, at }: LedgerPrice): string => keyOf(eventId, at);
