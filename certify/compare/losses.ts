import { groupBy } from '../../core/index.js';
import { firstAfter } from '../align.js';
import { COVERAGE_RESOLUTION_MICROS } from '../coverage-resolution.js';
import type { DeadLetter, Gap } from '../recorded.js';
import type { UsedFault } from '../truth.js';

/** What may account for a message of a stream that was not recorded. */
export interface Losses {
  readonly stream: 'order-book' | 'chance';
  readonly gaps: readonly Gap[];
  /** In the order of their receipt. */
  readonly deadLetters: readonly DeadLetter[];
  /** Messages that the exchange did not send. */
  readonly skips: readonly UsedFault[];
  /** How long received changes took, by the time at which they were made; by two clocks, so possibly below 0. */
  readonly transits: readonly { readonly at: number; readonly micros: number }[];
}

/** A change in a dead letter was received, and is not in a gap. */
export const DEAD_LETTER = 'dead letter';

/** What is known about a message that was not recorded. */
export interface Loss {
  /** Whether the exchange did not send it. */
  readonly isSkipped: boolean;
  /** The gap or dead letter that says that it is missing; undefined when nothing does. */
  readonly by: string | undefined;
}

/** Transit times around a change say how long the change itself would have taken: within these times, until there are enough. */
const NEAR_MICROS = [2_000_000, 10_000_000, 60_000_000] as const;
const MIN_SAMPLES = 20;
/** Longest transit time that is assumed. */
const MAX_TRANSIT_MICROS = 2_000_000;
/** Longest time from a change to its message. */
const MAX_SENDING_MICROS = 1_000_000;

/** Finds out why a change was not received. A fault or a dead letter accounts for one change. */
export class LossExplainer {
  /** Longest transit time of all received changes, bounded. */
  readonly maxTransit: number;
  readonly #gaps: ReadonlyMap<string, readonly Gap[]>;
  readonly #skips: Map<string, UsedFault[]>;
  readonly #deadLetters: Map<string, DeadLetter[]>;
  readonly #transits: readonly { readonly at: number; readonly micros: number }[];

  constructor({ stream, gaps, deadLetters, skips, transits }: Losses) {
    this.#gaps = groupBy(
      gaps.filter((gap) => gap.stream === stream),
      ({ event }) => event,
    );
    this.#skips = groupBy(skips, ({ eventId }) => eventId ?? '');
    this.#deadLetters = groupBy(deadLetters, ({ event }) => event);
    this.#transits = [...transits].sort((x, y) => x.at - y.at);
    this.maxTransit = rangeOf(this.#transits).longest;
  }

  /** @param at when the change was made, Unix microseconds */
  explain(event: string, at: number): Loss {
    const skips = this.#skips.get(event) ?? [];
    const skip = skips.findIndex((fault) => fault.at >= at && fault.at <= at + MAX_SENDING_MICROS);
    if (skip >= 0) skips.splice(skip, 1);
    const isSkipped = skip >= 0;
    return { isSkipped, by: this.#recordedCause(event, at, isSkipped) };
  }

  #recordedCause(event: string, at: number, isSkipped: boolean): string | undefined {
    // It would have been received between these times, by the clock of the collector.
    const { shortest, longest } = this.#transitsNear(at);
    const [from, until] = [at + shortest - COVERAGE_RESOLUTION_MICROS, at + longest + COVERAGE_RESOLUTION_MICROS];
    const gap = this.#gaps.get(event)?.find(({ begins, ends }) => begins <= until && ends >= from);
    if (gap) return `gap: ${gap.cause.split(':')[0]}`;
    // A dead letter may have taken longer than every change around it. If the change was skipped, it is another one's.
    const latest = isSkipped ? until : at + MAX_TRANSIT_MICROS;
    const letters = this.#deadLetters.get(event) ?? [];
    const letter = letters.findIndex((received) => received.at >= from && received.at <= latest);
    if (letter < 0) return undefined;
    letters.splice(letter, 1);
    return DEAD_LETTER;
  }

  #transitsNear(at: number): TransitRange {
    for (const micros of NEAR_MICROS) {
      const first = firstAfter(this.#transits, (one) => one.at > at - micros);
      const end = firstAfter(this.#transits, (one) => one.at > at + micros);
      if (end - first >= MIN_SAMPLES) return rangeOf(this.#transits.slice(first, end));
    }
    return rangeOf(this.#transits);
  }
}

/** Times of two processes' clocks: the shortest may be below 0. */
interface TransitRange {
  readonly shortest: number;
  readonly longest: number;
}

function rangeOf(transits: readonly { readonly micros: number }[]): TransitRange {
  const shortest = transits.reduce((least, { micros }) => Math.min(least, micros), 0);
  const longest = transits.reduce((most, { micros }) => Math.max(most, micros), 0);
  return { shortest, longest: Math.min(MAX_TRANSIT_MICROS, longest) };
}

/** Faults by which a message was not sent: it was skipped, or held back until a next one that never came. */
export const skipsOf = (faults: readonly UsedFault[], stream: Losses['stream']): UsedFault[] =>
  faults.filter((fault) => ['skip-delta', 'reorder-deltas'].includes(fault.kind) && fault.stream === stream);
