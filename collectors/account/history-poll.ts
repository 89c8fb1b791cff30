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
  /** Called for every visited record, known ones included, before it is durable. */
  readonly onItem?: (item: T) => void;
  /** Whether every record that may have changed has been visited: the walk continues until then. Default true. */
  readonly isDone?: () => boolean;
  /** Called when all visited records are durable. */
  readonly onEnd?: (failure: unknown) => void;
}

/** Page size of the first walk, and the minimum of later ones, which request twice the number of records found last time. */
const LARGE_PAGE = 100;
const SMALL_PAGE = 20;

/**
 * Polls a history from the newest record back to the first that is known to be on the bus. A walk that is behind has high
 * priority: the pages after the first one, and all pages of the first walk and of a walk after one that did not end. Its
 * pages are requested one by one, so behind the polls of many accounts they would wait for all of these, page by page.
 */
export class HistoryPoll<T> implements AccountPoll {
  #checkpoint: HistoryCheckpoint | undefined;
  #doubted = false;
  #isBehind = false;

  constructor(private readonly source: HistorySource<T>) {}

  async run(signal: AbortSignal): Promise<unknown> {
    const { parts, kind, operation, subject, account, idOf } = this.source;
    const { onStart, onItem, isDone = () => true, onEnd } = this.source;
    const checkpoint = this.#loadCheckpoint();
    const poll = new Poll(parts, { kind, operation, subject, key: subject, account }, signal);
    const pageSize = checkpoint.isEmpty
      ? LARGE_PAGE
      : Math.min(LARGE_PAGE, Math.max(SMALL_PAGE, 2 * checkpoint.newRecords));
    checkpoint.startWalk();
    onStart?.();
    let pass = 0;
    const walk = this.source.walk({
      signal,
      onResponse: (response) => {
        // A walk that finds new records in front begins at page 0 again.
        if (response.request.page === 0) pass = response.receivedAtMicros;
        poll.publish(response, { pass });
      },
      pageSize,
      priorityOf: (page) => {
        if (page > 0) this.#setBehind(true);
        return this.#isBehind ? 'high' : 'normal';
      },
      isKnown: (item) => {
        onItem?.(item);
        return checkpoint.visit(idOf(item)) && isDone();
      },
    });
    const result = await poll.walk(walk);
    const isFinal = result.failure === undefined && this.#isFinal(result);
    if (isFinal) this.#commit(checkpoint);
    this.#setBehind(!isFinal);
    onEnd?.(result.failure);
    return result.failure;
  }

  #loadCheckpoint(): HistoryCheckpoint {
    if (this.#checkpoint) return this.#checkpoint;
    const { state, operation } = this.source;
    const checkpoint = new HistoryCheckpoint(state.checkpoints.get(operation) ?? []);
    this.#checkpoint = checkpoint;
    this.#setBehind(checkpoint.isEmpty);
    return checkpoint;
  }

  #setBehind(isBehind: boolean): void {
    if (isBehind === this.#isBehind) return;
    this.#isBehind = isBehind;
    const { parts, operation } = this.source;
    parts.metrics.walksBehind.inc({ operation }, isBehind ? 1 : -1);
  }

  /**
   * Whether another walk would find nothing more. A total that differs from the records read causes one more walk; if it
   * differs again, it always will. Pages beyond the limit and invalid entries do not change by reading them again.
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
