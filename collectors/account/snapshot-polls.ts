import type { AccountListResult, AccountRecordResult, CallOptions, PageWalk, WalkOptions } from '../../client/index.js';
import type { RecordKind } from '../../core/index.js';
import { Poll, type PollParts } from '../polls/poll.js';
import type { AccountPoll } from './poll-task.js';

export interface SnapshotSource {
  readonly parts: PollParts;
  readonly kind: RecordKind;
  /** Name of the client's operation. */
  readonly operation: string;
  readonly account: string;
}

/** Attempts per poll for a list that changes while its pages are read. */
const ATTEMPTS = 3;

export interface ListSource<T> extends SnapshotSource {
  readonly walk: (options: WalkOptions) => PageWalk<T, AccountListResult<T>>;
  /** Called with a consistent, complete list. @param startedAt when the poll started, Unix microseconds */
  readonly onList: (items: readonly T[], startedAt: number) => void;
}

/** Polls all pages of a list of current items, and repeats that when the list changed meanwhile. */
export class ListPoll<T> implements AccountPoll {
  constructor(private readonly source: ListSource<T>) {}

  async run(signal: AbortSignal): Promise<unknown> {
    const { parts, onList } = this.source;
    for (let attempt = 1; ; attempt++) {
      const startedAt = parts.clock.nowMicros();
      const poll = pollOf(this.source, signal);
      const walk = this.source.walk({ signal, onResponse: poll.onResponse });
      const items: T[] = [];
      const { report, failure } = await poll.walk(walk, (page) => void items.push(...page.items));
      if (failure !== undefined) return failure;
      if (report.complete) onList(items, startedAt);
      if (report.complete || !report.shifted || attempt === ATTEMPTS) return undefined;
    }
  }
}

type Answer = AccountListResult<unknown> | AccountRecordResult<unknown>;

export interface CallSource<A extends Answer> extends SnapshotSource {
  /** Undefined when the request is not possible yet. */
  readonly call: (options: CallOptions) => Promise<A> | undefined;
  /** @param tookMs time from request to response, milliseconds */
  readonly onAnswer?: (answer: A, tookMs: number) => void;
}

/** Polls data that fits one response. */
export class CallPoll<A extends Answer> implements AccountPoll {
  constructor(private readonly source: CallSource<A>) {}

  async run(signal: AbortSignal): Promise<unknown> {
    const { parts, call, onAnswer } = this.source;
    const poll = pollOf(this.source, signal);
    const startedAtMs = parts.clock.elapsedMs();
    try {
      const answer = await call({ signal, onResponse: poll.onResponse });
      if (answer === undefined) return undefined;
      const tookMs = parts.clock.elapsedMs() - startedAtMs;
      await poll.published();
      const { items, bad } = countsOf(answer);
      const cause = bad > 0 ? `${bad} entries could not be understood` : '';
      const counts = {
        expectedItems: null,
        receivedItems: items + bad,
        distinctItems: items,
        pages: 1,
        truncated: false,
      };
      poll.finish({ ...counts, outcome: bad > 0 ? 'incomplete' : 'complete', cause });
      onAnswer?.(answer, tookMs);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      poll.fail(error);
      return error;
    }
  }
}

function pollOf({ parts, kind, operation, account }: SnapshotSource, signal: AbortSignal): Poll {
  return new Poll(parts, { kind, operation, subject: account, key: account, account }, signal);
}

function countsOf(answer: Answer): { items: number; bad: number } {
  if (!('items' in answer)) return { items: 1, bad: 0 };
  return { items: answer.items.length, bad: answer.invalidEntries.length + answer.invalidEntriesOmitted };
}
