import type { AccountClient, OrderRecord } from '../../client/index.js';
import { Poll } from '../polls/poll.js';
import { runWalk } from '../polls/run-walk.js';
import { HistoryPoll, type HistorySource } from './history-poll.js';
import type { OpenOrders } from './open-orders.js';

export interface OrdersPollOptions extends Omit<HistorySource<OrderRecord>, 'walk' | 'idOf' | 'onItem' | 'kind'> {
  readonly account: string;
  readonly client: AccountClient;
  readonly open: OpenOrders;
}

/**
 * Polls an account's orders (part 4.4): the new ones from the front, then those whose record has changed since it was
 * read. Their place in the history is not known, so their market's orders are walked until all of them were met.
 */
export class OrdersPoll {
  readonly #history: HistoryPoll<OrderRecord>;
  #restored = false;

  constructor(private readonly options: OrdersPollOptions) {
    const { client } = options;
    this.#history = new HistoryPoll({
      ...options,
      kind: 'account.orders',
      walk: (walkOptions) => client.walkOrders({}, walkOptions),
      idOf: (order) => order.orderId,
      onItem: (order) => this.#onOrder(order),
    });
  }

  /** Answers what it failed with, if it did. */
  async run(signal: AbortSignal): Promise<unknown> {
    this.#restore();
    const { open, state } = this.options;
    const before = JSON.stringify(state.openOrders);
    const { failure } = await this.#history.run(signal);
    const failed = failure ?? (await this.#readChanged(signal));
    state.openOrders = open.saved;
    if (JSON.stringify(state.openOrders) !== before) state.changed();
    return failed;
  }

  #restore(): void {
    if (this.#restored) return;
    const { open, state } = this.options;
    open.restore(state.openOrders);
    this.#restored = true;
  }

  async #readChanged(signal: AbortSignal): Promise<unknown> {
    for (const [market, orders] of this.options.open.changed()) {
      const failure = await this.#readMarket(market, orders, signal);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  async #readMarket(market: string | null, wanted: Set<string>, signal: AbortSignal): Promise<unknown> {
    const { parts, subject, account, client, open } = this.options;
    const what = `${subject}/${market ?? 'changed'}`;
    const poll = new Poll(parts, 'account.orders', 'orders', what, subject, signal, account);
    const walk = client.walkOrders(market === null ? {} : { marketId: market }, {
      signal,
      onResponse: poll.onResponse,
      isKnown: (order) => {
        this.#onOrder(order);
        wanted.delete(order.orderId);
        return wanted.size === 0;
      },
    });
    const { failure, report } = await runWalk(poll, walk, signal, () => undefined);
    if (failure === undefined && !report.truncated) for (const order of wanted) open.forget(order);
    return failure;
  }

  #onOrder(order: OrderRecord): void {
    const { open, state, parts } = this.options;
    open.read(order, parts.clock.nowMicros());
    state.user ??= order.userId;
  }
}
