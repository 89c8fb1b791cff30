import type { AccountAnswer, AccountHistoryOptions, HistoryWalk } from '../../client/index.js';
import type { RecordKind } from '../../core/index.js';
import { Poll, type PollParts } from '../polls/poll.js';
import { runWalk, type WalkResult } from '../polls/run-walk.js';
import type { AccountState, HistoryName } from './account-state.js';
import { KnownRecords } from './history-checkpoint.js';

export interface HistorySource<T> {
  readonly parts: PollParts;
  readonly kind: RecordKind;
  readonly history: HistoryName;
  /** Name in receipts, and key on the bus. */
  readonly subject: string;
  /** Configured name of the account; undefined for the activity feed. */
  readonly account?: string;
  readonly state: AccountState;
  readonly walk: (options: AccountHistoryOptions<T>) => HistoryWalk<T, AccountAnswer<T>>;
  readonly idOf: (item: T) => string;
  /** Told of every record that a walk meets, known ones too. */
  readonly onItem?: (item: T) => void;
  /** Whether everything that had to be looked at again has been met: the walk goes on until then. */
  readonly isSettled?: () => boolean;
}

/** What is asked for per page: everything at first, then a little more than came last. */
const LARGE_PAGE = 100;
const SMALL_PAGE = 20;

/**
 * Polls a history whose records come in front, from the newest back to what is known to be on the bus. Records that may
 * still change are met again by their owner's `isSettled`.
 */
export class HistoryPoll<T> {
  #known: KnownRecords | undefined;
  #doubted = false;

  constructor(private readonly source: HistorySource<T>) {}

  /** One walk. Rejects only with the signal's reason: what went wrong is in the receipt, and is answered. */
  async run(signal: AbortSignal): Promise<WalkResult> {
    const { parts, kind, history, subject, account, idOf, onItem, isSettled = () => true } = this.source;
    const known = this.#knownRecords();
    const poll = new Poll(parts, kind, history, subject, subject, signal, account);
    known.begin();
    const walk = this.source.walk({
      signal,
      onResponse: poll.onResponse,
      pageSize: known.isEmpty ? LARGE_PAGE : Math.min(LARGE_PAGE, Math.max(SMALL_PAGE, 2 * known.lastNew)),
      isKnown: (item) => {
        onItem?.(item);
        return known.meet(idOf(item)) && isSettled();
      },
    });
    const result = await runWalk(poll, walk, signal, () => undefined);
    if (result.failure === undefined && this.#isEnough(result)) this.#commit(known);
    return result;
  }

  /**
   * Whether reading it all again would bring nothing more: not where entries cannot be understood or where there are
   * more pages than are read; and a total that differs twice will differ for ever.
   */
  #isEnough({ report: { truncated, complete, bad } }: WalkResult): boolean {
    const inDoubt = !truncated && !complete && bad === 0;
    const again = inDoubt && !this.#doubted;
    this.#doubted = again;
    return !again;
  }

  #knownRecords(): KnownRecords {
    const { history, state } = this.source;
    this.#known ??= new KnownRecords(state.known.get(history) ?? []);
    return this.#known;
  }

  #commit(known: KnownRecords): void {
    known.commit();
    const { state, history } = this.source;
    state.known.set(history, known.ids);
    if (known.lastNew > 0) state.changed();
  }
}
