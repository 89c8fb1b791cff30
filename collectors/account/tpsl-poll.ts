import type { AccountClient } from '../../client/index.js';
import { describeError, isRetryable } from '../../core/index.js';
import { Poll, type PollParts } from '../polls/poll.js';
import type { AccountState } from './account-state.js';
import { isRefusal } from './poll-task.js';

export interface TpslPollOptions {
  readonly parts: PollParts;
  readonly account: string;
  readonly client: AccountClient;
  readonly state: AccountState;
}

/** TP/SL orders that can still do something; what became of the others the order updates stream tells. */
const STATUS = 'ACTIVE';

/**
 * Polls an account's TP/SL orders (part 4.2), which are asked for per asset: those that it holds, those that had some
 * the last time, and those that the order updates stream speaks of. One poll asks about all of them.
 */
export class TpslPoll {
  #held: ReadonlySet<string> | undefined;
  readonly #told = new Set<string>();

  constructor(private readonly options: TpslPollOptions) {}

  /** The account's open positions, as a complete poll said. */
  holds(assets: Iterable<string>): void {
    this.#held = new Set(assets);
  }

  /** The stream spoke of the asset. */
  told(asset: string): void {
    this.#told.add(asset);
  }

  /** Answers what it failed with, if it did. */
  async run(signal: AbortSignal): Promise<unknown> {
    // Without the positions it is not known which assets to ask about.
    if (!this.#held) return undefined;
    const { parts, account, state } = this.options;
    const told = [...this.#told];
    this.#told.clear();
    const poll = new Poll(parts, 'account.tpsl-orders', 'tpsl-orders', account, account, signal, account);
    const tally: Tally = { withOrders: [], expected: null, got: 0, unique: 0, pages: 0, causes: [] };
    const receipt = () => {
      const { expected, got, unique, pages, causes } = tally;
      return { expected, got, unique, pages, truncated: false, cause: causes.join('; ') };
    };
    try {
      for (const asset of new Set([...this.#held, ...state.tpslAssets, ...told])) {
        await this.#ask(asset, poll, tally, signal);
      }
    } catch (error) {
      signal.throwIfAborted();
      for (const asset of told) this.#told.add(asset);
      const failed = { ...receipt(), truncated: true, outcome: 'failed' as const, cause: describeError(error) };
      poll.finish(failed, { isOutage: isRetryable(error) });
      return error;
    }
    poll.finish({ ...receipt(), outcome: tally.causes.length > 0 ? 'incomplete' : 'complete' });
    if (state.tpslAssets.join() !== tally.withOrders.join()) {
      state.tpslAssets = tally.withOrders;
      state.changed();
    }
    return undefined;
  }

  async #ask(assetId: string, poll: Poll, tally: Tally, signal: AbortSignal): Promise<void> {
    const options = { signal, onResponse: poll.onResponse };
    tally.pages += 1;
    try {
      const { items, bad, badBeyond } = await this.options.client.tpslOrders({ assetId, status: STATUS }, options);
      const notUnderstood = bad.length + badBeyond;
      tally.unique += items.length;
      tally.got += items.length + notUnderstood;
      if (items.length > 0) tally.withOrders.push(assetId);
      if (notUnderstood > 0) tally.causes.push(`${notUnderstood} entries of ${assetId} could not be understood`);
    } catch (error) {
      // An asset that the exchange does not know must not keep the others from being asked about.
      if (signal.aborted || isRetryable(error) || isRefusal(error)) throw error;
      tally.causes.push(describeError(error));
    }
    await poll.published();
  }
}

/** What one poll has brought so far. */
interface Tally {
  readonly withOrders: string[];
  readonly expected: null;
  got: number;
  unique: number;
  pages: number;
  readonly causes: string[];
}
