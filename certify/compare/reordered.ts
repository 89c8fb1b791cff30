import { groupBy } from '../../core/index.js';
import type { UsedFault } from '../truth.js';

export const REORDERED = 'received in another order';

/** The fault is applied to the message of a change, at most this long after the change. */
const BEFORE_MICROS = 1_000_000;
/** The message is sent after the next one about the same event. */
const AFTER_MICROS = 60_000_000;

/** The faults that sent a message of a stream after its successor, by event. */
export const reordersOf = (faults: readonly UsedFault[], stream: string): ReadonlyMap<string, UsedFault[]> =>
  groupBy(
    faults.filter((fault) => fault.kind === 'reorder-deltas' && fault.stream === stream),
    ({ eventId }) => eventId ?? '',
  );

/** Whether a message of this time, Unix microseconds, may be one of the two that a fault exchanged. */
export const isNear = (fault: UsedFault, at: number): boolean =>
  at >= fault.at - BEFORE_MICROS && at <= fault.at + AFTER_MICROS;

interface Unmatched {
  readonly reorders: readonly UsedFault[];
  readonly expected: readonly { readonly value: string; readonly at: number }[];
  readonly found: readonly { readonly value: string; readonly receivedAt: number }[];
  isMatched(j: number): boolean;
  isFound(k: number): boolean;
}

/** Pairs of a recorded change and an equal one of the ledger that differ only in their order; one pair for each fault. */
export function lateReceipts({ reorders, expected, found, isMatched, isFound }: Unmatched): { k: number; j: number }[] {
  const pairs: { k: number; j: number }[] = [];
  for (const fault of reorders) {
    const k = found.findIndex(
      ({ receivedAt }, i) => !isFound(i) && isNear(fault, receivedAt) && !pairs.some((pair) => pair.k === i),
    );
    const value = found[k]?.value;
    const j = expected.findIndex(
      (change, i) =>
        change.value === value && !isMatched(i) && isNear(fault, change.at) && !pairs.some((pair) => pair.j === i),
    );
    if (k >= 0 && j >= 0) pairs.push({ k, j });
  }
  return pairs;
}
