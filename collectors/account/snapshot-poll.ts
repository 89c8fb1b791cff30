import type { AccountAnswer, AccountRecord, PageWalk, RawResponse, WalkOptions } from '../../client/index.js';
import { describeError, isRetryable, type RecordKind } from '../../core/index.js';
import { failedReceipt, Poll, type PollParts } from '../polls/poll.js';
import { runWalk } from '../polls/run-walk.js';

export interface SnapshotSource {
  readonly parts: PollParts;
  readonly kind: RecordKind;
  /** Name of the client's operation. */
  readonly operation: string;
  readonly account: string;
}

/** How often a list that moved while its pages were read is read again at once. */
const TRIES = 3;

export interface ListSource<T> extends SnapshotSource {
  readonly walk: (options: WalkOptions) => PageWalk<T, AccountAnswer<T>>;
  /** The whole list as it was at one moment. @param askedAt when the poll began, Unix microseconds */
  readonly onList: (items: readonly T[], askedAt: number) => void;
}

/** Polls a list of what there is now, all pages, again when it moved meanwhile. Answers what it failed with, if it did. */
export async function pollList<T>(source: ListSource<T>, signal: AbortSignal): Promise<unknown> {
  const { parts, kind, operation, account } = source;
  for (let attempt = 1; ; attempt++) {
    const askedAt = parts.clock.nowMicros();
    const poll = new Poll(parts, kind, operation, account, account, signal, account);
    const walk = source.walk({ signal, onResponse: poll.onResponse });
    const items: T[] = [];
    const { report, failure } = await runWalk(poll, walk, signal, (answer) => void items.push(...answer.items));
    if (failure !== undefined) return failure;
    if (report.complete) source.onList(items, askedAt);
    if (report.complete || !report.shifted || attempt === TRIES) return undefined;
  }
}

export interface CallSource<A> extends SnapshotSource {
  readonly call: (options: { signal: AbortSignal; onResponse: (response: RawResponse) => void }) => Promise<A>;
  /** @param tookMs time from asking to having it, milliseconds */
  readonly onAnswer?: (answer: A, tookMs: number) => void;
}

/** Polls what one answer tells. Answers what it failed with, if it did. */
export async function pollCall<A extends AccountAnswer<unknown> | AccountRecord<unknown>>(
  source: CallSource<A>,
  signal: AbortSignal,
): Promise<unknown> {
  const { parts, kind, operation, account } = source;
  const poll = new Poll(parts, kind, operation, account, account, signal, account);
  const askedAtMs = parts.clock.nowMs();
  try {
    const answer = await source.call({ signal, onResponse: poll.onResponse });
    const tookMs = parts.clock.nowMs() - askedAtMs;
    await poll.published();
    const { items, bad } = countsOf(answer);
    const cause = bad > 0 ? `${bad} entries could not be understood` : '';
    const counts = { expected: null, got: items + bad, unique: items, pages: 1, truncated: false };
    poll.finish({ ...counts, outcome: bad > 0 ? 'incomplete' : 'complete', cause });
    source.onAnswer?.(answer, tookMs);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    poll.finish(failedReceipt(describeError(error)), { isOutage: isRetryable(error) });
    return error;
  }
}

function countsOf(answer: AccountAnswer<unknown> | AccountRecord<unknown>): { items: number; bad: number } {
  if (!('items' in answer)) return { items: 1, bad: 0 };
  return { items: answer.items.length, bad: answer.bad.length + answer.badBeyond };
}
