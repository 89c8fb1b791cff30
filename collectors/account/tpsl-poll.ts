import type { AccountClient } from '../../client/index.js';
import { describeError, isRetryable } from '../../core/index.js';
import { Poll, type PollParts } from '../polls/poll.js';
import type { AccountState } from './account-state.js';
import { isRejected } from './credentials.js';
import type { AccountPoll } from './poll-task.js';

export interface TpslSource {
  readonly parts: PollParts;
  readonly account: string;
  readonly client: AccountClient;
  readonly state: AccountState;
}

/** TP/SL orders that may still trigger; the order updates stream reports changes of the others. */
const STATUS = 'ACTIVE';

/** Result of one poll so far. */
interface PollTotals {
  readonly assetsWithOrders: string[];
  receivedItems: number;
  distinctItems: number;
  pages: number;
  readonly causes: string[];
}

/**
 * Polls an account's TP/SL orders (part 4.2), one request per asset: assets that it holds, that had orders at the latest
 * poll, or that the order updates stream reported. One poll has one receipt for all of them.
 */
export class TpslPoll implements AccountPoll {
  #held: ReadonlySet<string> | undefined;
  readonly #reported = new Set<string>();

  constructor(private readonly source: TpslSource) {}

  /** The assets of the account's open positions. */
  setHeldAssets(assets: Iterable<string>): void {
    this.#held = new Set(assets);
  }

  /** The order updates stream reported a TP/SL order of the asset. */
  assetChanged(asset: string): void {
    this.#reported.add(asset);
  }

  async run(signal: AbortSignal): Promise<unknown> {
    // The assets to request are unknown without the positions.
    if (!this.#held) return undefined;
    const { parts, account, state } = this.source;
    const reported = [...this.#reported];
    this.#reported.clear();
    const about = { kind: 'account.tpsl-orders', operation: 'tpsl-orders', subject: account } as const;
    const poll = new Poll(parts, { ...about, key: account, account }, signal);
    const tally: PollTotals = { assetsWithOrders: [], receivedItems: 0, distinctItems: 0, pages: 0, causes: [] };
    try {
      for (const asset of new Set([...this.#held, ...state.tpslAssets, ...reported])) {
        await this.#pollAsset(asset, poll, tally, signal);
      }
    } catch (error) {
      signal.throwIfAborted();
      for (const asset of reported) this.#reported.add(asset);
      poll.fail(error, { ...countsOf(tally), truncated: true });
      return error;
    }
    const outcome = tally.causes.length > 0 ? 'incomplete' : 'complete';
    poll.finish({ ...countsOf(tally), truncated: false, outcome, cause: tally.causes.join('; ') });
    if (state.tpslAssets.join() !== tally.assetsWithOrders.join()) {
      state.tpslAssets = tally.assetsWithOrders;
      state.changed();
    }
    return undefined;
  }

  async #pollAsset(assetId: string, poll: Poll, tally: PollTotals, signal: AbortSignal): Promise<void> {
    const options = { signal, onResponse: poll.onResponse };
    tally.pages += 1;
    try {
      const { items, invalidEntries, invalidEntriesOmitted } = await this.source.client.tpslOrders(
        { assetId, status: STATUS },
        options,
      );
      const notUnderstood = invalidEntries.length + invalidEntriesOmitted;
      tally.distinctItems += items.length;
      tally.receivedItems += items.length + notUnderstood;
      if (items.length > 0) tally.assetsWithOrders.push(assetId);
      if (notUnderstood > 0) tally.causes.push(`${notUnderstood} entries of ${assetId} could not be understood`);
    } catch (error) {
      // An asset unknown to the exchange must not prevent the requests for the others.
      if (signal.aborted || isRetryable(error) || isRejected(error)) throw error;
      tally.causes.push(describeError(error));
    }
    await poll.published();
  }
}

const countsOf = ({ receivedItems, distinctItems, pages }: PollTotals) => ({
  expectedItems: null,
  receivedItems,
  distinctItems,
  pages,
});
