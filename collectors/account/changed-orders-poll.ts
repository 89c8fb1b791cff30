import type { AccountClient, OrderRecord } from '../../client/index.js';
import { Poll, type PollParts } from '../polls/poll.js';
import type { AccountState } from './account-state.js';
import type { OpenOrders } from './open-orders.js';
import type { AccountPoll } from './poll-task.js';

export interface ChangedOrdersSource {
  readonly parts: PollParts;
  readonly account: string;
  readonly client: AccountClient;
  readonly state: AccountState;
  readonly open: OpenOrders;
  readonly onOrder: (order: OrderRecord) => void;
}

/**
 * Polls the orders (part 4.4) that have changed since they were read. Their position in the history is unknown, so it
 * reads the orders of their market until it has found all of them.
 */
export class ChangedOrdersPoll implements AccountPoll {
  constructor(private readonly source: ChangedOrdersSource) {}

  async run(signal: AbortSignal): Promise<unknown> {
    const { open, state } = this.source;
    for (const [market, orderIds] of open.changed()) {
      const failure = await this.#readMarket(market, orderIds, signal);
      state.openOrders = open.saved;
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  async #readMarket(market: string | null, remaining: Set<string>, signal: AbortSignal): Promise<unknown> {
    const { parts, account, client, open, onOrder } = this.source;
    const subject = `${account}/${market ?? 'changed'}`;
    const about = { kind: 'account.orders', operation: 'orders', subject, key: account, account } as const;
    const poll = new Poll(parts, about, signal);
    const walk = client.walkOrders(market === null ? {} : { marketId: market }, {
      signal,
      onResponse: poll.onResponse,
      isKnown: (order) => {
        onOrder(order);
        remaining.delete(order.orderId);
        return remaining.size === 0;
      },
    });
    const { failure, report } = await poll.walk(walk);
    if (failure === undefined && !report.truncated) for (const orderId of remaining) open.delete(orderId);
    return failure;
  }
}
