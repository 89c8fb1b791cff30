import type { AccountClient, Balance, Credentials, TradeRecord, Transaction } from '../../client/index.js';
import type { Logger } from '../../core/index.js';
import type { PollParts } from '../polls/poll.js';
import type { AccountState, HistoryName } from './account-state.js';
import { HistoryPoll } from './history-poll.js';
import { OpenOrders } from './open-orders.js';
import { OrdersPoll } from './orders-poll.js';
import { AccountPoll } from './poll-task.js';
import { pollCall, pollList } from './snapshot-poll.js';
import { TpslPoll } from './tpsl-poll.js';

/** What is polled at the same times. */
export const POLL_GROUPS = ['holdings', 'trades', 'transactions', 'tpsl', 'stats'] as const;
export type PollGroup = (typeof POLL_GROUPS)[number];

export interface AccountPollsOptions {
  readonly parts: PollParts;
  readonly account: string;
  readonly client: AccountClient;
  readonly credentials: Credentials;
  readonly state: AccountState;
  readonly log: Logger;
  /** Aborted when the collector stops. */
  readonly signal: AbortSignal;
  readonly onBalances: (balances: readonly Balance[], tookMs: number) => void;
}

/** Statuses that no transaction leaves any more. */
const SETTLED = ['COMPLETED', 'SUCCESS', 'FAILED', 'CANCELLED', 'CANCELED', 'REJECTED', 'EXPIRED'];

/** All polls of one account that its credentials allow (part 5.2). */
export class AccountPolls {
  readonly #groups: Readonly<Record<PollGroup, readonly AccountPoll[]>>;
  readonly #open = new OpenOrders();
  readonly #tpsl: TpslPoll;
  readonly #orders: AccountPoll;
  readonly #tpslOrders: AccountPoll;

  constructor(private readonly options: AccountPollsOptions) {
    const { parts, account, client, state, credentials } = options;
    this.#tpsl = new TpslPoll({ parts, account, client, state });
    this.#tpslOrders = this.#poll('TP/SL orders', (signal) => this.#tpsl.run(signal));
    const orders = new OrdersPoll({ ...this.#source('orders'), client, open: this.#open });
    this.#orders = this.#poll('orders', (signal) => orders.run(signal));
    const byKey = credentials.apiKey !== undefined;
    this.#groups = {
      holdings: byKey ? [this.#balances(), this.#positions(), this.#activeOrders()] : [],
      trades: byKey ? [this.#orders, this.#trades()] : [],
      transactions: credentials.jwt === undefined ? [] : [this.#transactions()],
      tpsl: byKey ? [this.#tpslOrders] : [],
      stats: byKey ? this.#stats() : [],
    };
  }

  /** It is a group's time. */
  due(group: PollGroup): void {
    for (const poll of this.#groups[group]) poll.due();
  }

  /** Something of the account may have been missed: everything but its figures is polled. */
  refresh(): void {
    for (const group of ['holdings', 'trades', 'transactions', 'tpsl'] as const) {
      for (const poll of this.#groups[group]) poll.wanted();
    }
  }

  /** The stream spoke of a TP/SL order of the asset. */
  tpslChanged(asset: string): void {
    this.#tpsl.told(asset);
    this.#tpslOrders.wanted();
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    for (const group of POLL_GROUPS) await Promise.all(this.#groups[group].map((poll) => poll.idle()));
  }

  #poll(what: string, work: (signal: AbortSignal) => Promise<unknown>): AccountPoll {
    const { account, parts, log, signal } = this.options;
    return new AccountPoll({ account, what, clock: parts.clock, log, signal }, work);
  }

  #source<H extends HistoryName>(history: H) {
    const { parts, account, state } = this.options;
    return { parts, history, subject: account, account, state };
  }

  #balances(): AccountPoll {
    const { parts, account, client, onBalances } = this.options;
    const source = { parts, account, kind: 'account.balances', operation: 'full-balances' } as const;
    return this.#poll('balances', (signal) =>
      pollCall(
        {
          ...source,
          call: (options) => client.fullBalances(options),
          onAnswer: ({ items }, tookMs) => onBalances(items, tookMs),
        },
        signal,
      ),
    );
  }

  #positions(): AccountPoll {
    const { parts, account, client } = this.options;
    const source = { parts, account, kind: 'account.positions', operation: 'open-positions' } as const;
    let first = true;
    return this.#poll('positions', (signal) =>
      pollList(
        {
          ...source,
          walk: (options) => client.walkOpenPositions(options),
          onList: (positions) => {
            this.#tpsl.holds(positions.map(({ assetId }) => assetId));
            // TP/SL orders waited for it.
            if (first) this.#tpslOrders.due();
            first = false;
          },
        },
        signal,
      ),
    );
  }

  #activeOrders(): AccountPoll {
    const { parts, account, client } = this.options;
    const source = { parts, account, kind: 'account.active-orders', operation: 'active-orders' } as const;
    return this.#poll('active orders', (signal) =>
      pollList(
        {
          ...source,
          walk: (options) => client.walkActiveOrders(options),
          onList: (orders, askedAt) => {
            this.#open.inBook(orders, askedAt);
            if (this.#open.changed().size > 0) this.#orders.wanted();
          },
        },
        signal,
      ),
    );
  }

  #trades(): AccountPoll {
    const { client, state } = this.options;
    const history = new HistoryPoll<TradeRecord>({
      ...this.#source('trades'),
      kind: 'account.trades',
      walk: (options) => client.walkTrades({}, options),
      idOf: (trade) => trade.tradeRecordId,
      onItem: ({ userId }) => {
        state.user ??= userId;
      },
    });
    return this.#poll('trades', async (signal) => (await history.run(signal)).failure);
  }

  /** Those that may still change are met again by every poll, however far back they are. */
  #transactions(): AccountPoll {
    const { client, state } = this.options;
    let missing = new Set<string>();
    const history = new HistoryPoll<Transaction>({
      ...this.#source('transactions'),
      kind: 'account.transactions',
      walk: (options) => client.walkTransactions(options),
      idOf: (transaction) => transaction.transactionId,
      onItem: ({ transactionId, status, userId }) => {
        state.user ??= userId;
        missing.delete(transactionId);
        if (status === null || SETTLED.includes(status.toUpperCase())) state.pending.delete(transactionId);
        else state.pending.add(transactionId);
      },
      isSettled: () => missing.size === 0,
    });
    return this.#poll('transactions', async (signal) => {
      missing = new Set(state.pending);
      const { failure } = await history.run(signal);
      // What was walked for in vain is gone.
      if (failure === undefined) for (const id of missing) state.pending.delete(id);
      if (state.pending.size > 0) state.changed();
      return failure;
    });
  }

  #stats(): AccountPoll[] {
    const { parts, account, client, state } = this.options;
    const source = { parts, account };
    const poll = (what: string, work: (userId: string, signal: AbortSignal) => Promise<unknown>) =>
      // Whose figures to ask for is known once a record has told.
      this.#poll(what, async (signal) => (state.user === null ? undefined : work(state.user, signal)));
    return [
      poll('profile figures', (userId, signal) => {
        const about = { ...source, kind: 'account.profile-stats', operation: 'profile-stats' } as const;
        return pollCall({ ...about, call: (options) => client.profileStats({ userId }, options) }, signal);
      }),
      poll('position figures', (userId, signal) => {
        const about = { ...source, kind: 'account.position-stats', operation: 'position-stats' } as const;
        return pollCall({ ...about, call: (options) => client.positionStats({ userId }, options) }, signal);
      }),
    ];
  }
}
