import type { AccountListResult, HistoryWalk, HistoryWalkOptions } from '../../client/index.js';
import type { RecordKind } from '../../core/index.js';
import { Poll, type PollParts, type WalkResult } from '../polls/poll.js';
import type { AccountState } from './account-state.js';
import { HistoryCheckpoint } from './history-checkpoint.js';
import type { AccountPoll } from './poll-task.js';

export interface HistorySource<T> {
  readonly parts: PollParts;
  readonly kind: RecordKind;
  /** Name of the client's operation. */
  readonly operation: string;
  /** Name in receipts, and key on the bus. */
  readonly subject: string;
  /** Configured name of the account; undefined for the activity feed. */
  readonly account?: string;
  readonly state: AccountState;
  readonly walk: (options: HistoryWalkOptions<T>) => HistoryWalk<T, AccountListResult<T>>;
  readonly idOf: (item: T) => string;
  readonly onStart?: () => void;
  /** Called for every record that a walk visits, also for known ones, before it is durable. */
  readonly onItem?: (item: T) => void;
  /** Whether every record that may have changed has been visited: the walk continues until then. Default true. */
  readonly isDone?: () => boolean;
  /** Everything that was visited is durable. */
  readonly onEnd?: (failure: unknown) => void;
}

/** Page size of the first walk, and the smallest of later ones, which ask for twice what the last one found. */
const LARGE_PAGE = 100;
const SMALL_PAGE = 20;

/** Polls a history that new records are prepended to: from the newest back to the first that is known to be on the bus. */
export class HistoryPoll<T> implements AccountPoll {
  #checkpoint: HistoryCheckpoint | undefined;
  #doubted = false;

  constructor(private readonly source: HistorySource<T>) {}

  async run(signal: AbortSignal): Promise<unknown> {
    const { parts, kind, operation, subject, account, idOf, state } = this.source;
    const { onStart, onItem, isDone = () => true, onEnd } = this.source;
    this.#checkpoint ??= new HistoryCheckpoint(state.checkpoints.get(operation) ?? []);
    const checkpoint = this.#checkpoint;
    const poll = new Poll(parts, { kind, operation, subject, key: subject, account }, signal);
    const pageSize = checkpoint.isEmpty
      ? LARGE_PAGE
      : Math.min(LARGE_PAGE, Math.max(SMALL_PAGE, 2 * checkpoint.newRecords));
    checkpoint.startWalk();
    onStart?.();
    const walk = this.source.walk({
      signal,
      onResponse: poll.onResponse,
      pageSize,
      isKnown: (item) => {
        onItem?.(item);
        return checkpoint.visit(idOf(item)) && isDone();
      },
    });
    const result = await poll.walk(walk);
    if (result.failure === undefined && this.#isFinal(result)) this.#commit(checkpoint);
    onEnd?.(result.failure);
    return result.failure;
  }

  /**
   * Whether another walk would find nothing more. Not true once for a total that differs from what was read: should it
   * differ twice, it always will. Pages beyond the limit and entries that cannot be understood stay as they are.
   */
  #isFinal({ report: { truncated, complete, invalid: bad } }: WalkResult): boolean {
    const inDoubt = !truncated && !complete && bad === 0;
    const again = inDoubt && !this.#doubted;
    this.#doubted = again;
    return !again;
  }

  #commit(checkpoint: HistoryCheckpoint): void {
    checkpoint.commit();
    const { state, operation } = this.source;
    state.checkpoints.set(operation, checkpoint.ids);
    if (checkpoint.newRecords > 0) state.changed();
  }
}
