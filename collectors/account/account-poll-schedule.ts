import type { AccountClient, Balance, Credentials, OrderRecord, TradeRecord, Transaction } from '../../client/index.js';
import type { Logger } from '../../core/index.js';
import type { PollParts } from '../polls/poll.js';
import type { Schedules } from '../schedules.js';
import type { AccountState } from './account-state.js';
import { ChangedOrdersPoll } from './changed-orders-poll.js';
import { HistoryPoll } from './history-poll.js';
import { OpenOrders } from './open-orders.js';
import { PendingTransactions } from './pending-transactions.js';
import { type AccountPoll, PollTask } from './poll-task.js';
import { CallPoll, ListPoll } from './snapshot-polls.js';
import { TpslPoll } from './tpsl-poll.js';

/** Schedules of an account's polls. */
const SCHEDULES = ['holdings', 'trades', 'transactions', 'tpsl', 'stats'] as const;
type TasksBySchedule = Readonly<Record<(typeof SCHEDULES)[number], readonly PollTask[]>>;

export interface AccountPollScheduleOptions {
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

/** The polls of one account, as its credentials allow (part 5.2), and their schedules. */
export class AccountPollSchedule {
  readonly #tasks: TasksBySchedule;
  readonly #open = new OpenOrders();
  readonly #tpsl: TpslPoll;
  readonly #tpslTask: PollTask;
  readonly #ordersTask: PollTask;

  constructor(private readonly options: AccountPollScheduleOptions) {
    const { parts, account, client, state, credentials } = options;
    this.#tpsl = new TpslPoll({ parts, account, client, state });
    this.#tpslTask = this.#task('TP/SL orders', this.#tpsl);
    this.#ordersTask = this.#task('orders', ...this.#orders());
    const none = { holdings: [], trades: [], transactions: [], tpsl: [], stats: [] };
    const byKey = {
      holdings: [
        this.#task('balances', this.#balances()),
        this.#task('positions', this.#positions()),
        this.#task('active orders', this.#activeOrders()),
      ],
      trades: [this.#ordersTask, this.#task('trades', this.#trades())],
      tpsl: [this.#tpslTask],
      stats: [
        this.#task('profile figures', this.#profileStats()),
        this.#task('position figures', this.#positionStats()),
      ],
    };
    const byJwt = { transactions: [this.#task('transactions', this.#transactions())] };
    this.#tasks = { ...none, ...(credentials.apiKey && byKey), ...(credentials.jwt && byJwt) };
  }

  /** Call after the state was loaded. */
  start(schedules: Schedules): void {
    this.#open.restore(this.options.state.openOrders);
    for (const name of SCHEDULES) for (const task of this.#tasks[name]) schedules.add(name, task.run);
  }

  /** Call when changes of the account may have been missed: polls everything but its statistics. */
  refresh(): void {
    for (const name of ['holdings', 'trades', 'transactions', 'tpsl'] as const) {
      for (const task of this.#tasks[name]) task.request();
    }
  }

  /** The order updates stream reported a TP/SL order of the asset. */
  tpslChanged(asset: string): void {
    this.#tpsl.assetChanged(asset);
    this.#tpslTask.request();
  }

  /** Resolves when nothing is running. */
  async idle(): Promise<void> {
    for (const name of SCHEDULES) await Promise.all(this.#tasks[name].map((task) => task.idle()));
  }

  #task(what: string, ...polls: AccountPoll[]): PollTask {
    const { account, parts, log, signal } = this.options;
    return new PollTask({ account, what, clock: parts.clock, log, signal }, ...polls);
  }

  #balances(): AccountPoll {
    const { parts, account, client, onBalances } = this.options;
    return new CallPoll({
      parts,
      account,
      kind: 'account.balances',
      operation: 'full-balances',
      call: (options) => client.fullBalances(options),
      onAnswer: ({ items }, tookMs) => onBalances(items, tookMs),
    });
  }

  #positions(): AccountPoll {
    const { parts, account, client } = this.options;
    let first = true;
    return new ListPoll({
      parts,
      account,
      kind: 'account.positions',
      operation: 'open-positions',
      walk: (options) => client.walkOpenPositions(options),
      onList: (positions) => {
        this.#tpsl.setHeldAssets(positions.map(({ assetId }) => assetId));
        // TP/SL orders cannot be polled before.
        if (first) this.#tpslTask.run();
        first = false;
      },
    });
  }

  #activeOrders(): AccountPoll {
    const { parts, account, client } = this.options;
    return new ListPoll({
      parts,
      account,
      kind: 'account.active-orders',
      operation: 'active-orders',
      walk: (options) => client.walkActiveOrders(options),
      onList: (orders, startedAt) => {
        this.#open.setBook(orders, startedAt);
        if (this.#open.changed().size > 0) this.#ordersTask.request();
      },
    });
  }

  /** Polls new orders, then those whose record has changed. */
  #orders(): AccountPoll[] {
    const { parts, account, client, state } = this.options;
    const open = this.#open;
    const onOrder = (order: OrderRecord) => {
      open.read(order, parts.clock.nowMicros());
      state.userId ??= order.userId;
    };
    const history = new HistoryPoll<OrderRecord>({
      parts,
      account,
      state,
      subject: account,
      kind: 'account.orders',
      operation: 'orders',
      walk: (options) => client.walkOrders({}, options),
      idOf: (order) => order.orderId,
      onItem: onOrder,
      onEnd: () => {
        state.openOrders = open.saved;
      },
    });
    return [history, new ChangedOrdersPoll({ parts, account, client, state, open, onOrder })];
  }

  #trades(): AccountPoll {
    const { parts, account, client, state } = this.options;
    return new HistoryPoll<TradeRecord>({
      parts,
      account,
      state,
      subject: account,
      kind: 'account.trades',
      operation: 'trades',
      walk: (options) => client.walkTrades({}, options),
      idOf: (trade) => trade.tradeRecordId,
      onItem: ({ userId }) => {
        state.userId ??= userId;
      },
    });
  }

  #transactions(): AccountPoll {
    const { parts, account, client, state } = this.options;
    const pending = new PendingTransactions(state.pendingTransactions);
    return new HistoryPoll<Transaction>({
      parts,
      account,
      state,
      subject: account,
      kind: 'account.transactions',
      operation: 'transactions',
      walk: (options) => client.walkTransactions(options),
      idOf: (transaction) => transaction.transactionId,
      onStart: () => pending.startWalk(),
      onItem: (transaction) => {
        state.userId ??= transaction.userId;
        pending.visit(transaction);
      },
      isDone: () => pending.allVisited,
      onEnd: (failure) => {
        if (pending.endWalk(failure === undefined)) state.changed();
      },
    });
  }

  /** Statistics are requested by user ID, which is known once a record has contained it. */
  #profileStats(): AccountPoll {
    const { parts, account, client, state } = this.options;
    return new CallPoll({
      parts,
      account,
      kind: 'account.profile-stats',
      operation: 'profile-stats',
      call: (options) => (state.userId === null ? undefined : client.profileStats({ userId: state.userId }, options)),
    });
  }

  #positionStats(): AccountPoll {
    const { parts, account, client, state } = this.options;
    return new CallPoll({
      parts,
      account,
      kind: 'account.position-stats',
      operation: 'position-stats',
      call: (options) => (state.userId === null ? undefined : client.positionStats({ userId: state.userId }, options)),
    });
  }
}
