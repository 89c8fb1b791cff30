import { assetOf } from './assets.js';
import type { Changes } from './changes.js';
import type { LimitCommand, MarketCommand } from './commands.js';
import { LiveOrder, type Market, widen } from './entities.js';
import type { Ledger } from './ledger.js';
import { lockOf, Matcher, relock } from './matching.js';
import { encodeOrder } from './records.js';
import { known } from './state.js';
import type { OrderStatus, OrderUpdate } from './types.js';
import { MAX_QUANTITY, worth } from './units.js';
import { liveOrderView } from './views.js';

const WORST_BUY = 99;
const WORST_SELL = 1;

/** Handles valid orders: locks funds, matches, adds the rest to the book, cancels. */
export class OrderHandler {
  readonly #matcher: Matcher;

  constructor(
    private readonly changes: Changes,
    private readonly ledger: Ledger,
  ) {
    this.#matcher = new Matcher(changes, ledger, (order, at) => this.#finish(order, 'FILLED', at));
  }

  /** Matches a limit order. The rest goes into the book, or is cancelled after a self-trade or when it cannot be paid. */
  limit(command: LimitCommand): LiveOrder {
    const { at } = command;
    const order = this.#accept(command, 'LIMIT', command.price, command.quantity, 0);
    const { state } = this.changes;
    if (order.side === 'BUY') this.#lock(order, lockOf(order.price, order.remaining, state.takerFeeBps));
    const end = this.#matcher.match(order, at);
    let status: OrderStatus = 'ACTIVE';
    if (end === 'filled') status = 'FILLED';
    else if (end !== 'no-counterpart' || !this.#canRest(order)) status = 'CANCELLED';
    if (status === 'ACTIVE') this.#rest(order);
    else this.#free(order);
    this.#report(order, status, 'placed', at);
    if (status !== 'ACTIVE') this.#finish(order, status, at);
    this.changes.publish(order.market, at);
    return order;
  }

  /** Matches a market order and cancels the rest; an order without any fill is FAILED. */
  market(command: MarketCommand): { order: LiveOrder; status: OrderStatus } {
    const { at, side, amount } = command;
    const buys = side === 'BUY';
    const quantity = buys ? MAX_QUANTITY : command.quantity;
    const order = this.#accept(command, 'MARKET', buys ? WORST_BUY : WORST_SELL, quantity, amount);
    if (buys) this.#lock(order, amount);
    const end = this.#matcher.match(order, at);
    this.#free(order);
    const spent = end === 'filled' || end === 'unaffordable';
    const status = order.filled === 0 ? 'FAILED' : spent ? 'FILLED' : 'CANCELLED';
    if (status !== 'FAILED') this.#report(order, 'ACTIVE', 'placed', at);
    this.#finish(order, status, at);
    return { order, status };
  }

  cancel(number: number, at: number): LiveOrder {
    const order = known(this.changes.state.orders.get(number), 'order', number);
    this.#withdraw(order);
    this.#finish(order, 'CANCELLED', at);
    this.changes.publish(order.market, at);
    return order;
  }

  /** Cancels all resting orders of a market, without publishing prices. */
  cancelAll(market: Market, at: number): void {
    for (const order of [...market.book.orders()]) {
      this.#withdraw(order);
      this.#finish(order, 'CANCELLED', at);
    }
  }

  #accept(
    command: LimitCommand | MarketCommand,
    type: 'LIMIT' | 'MARKET',
    price: number,
    quantity: number,
    amount: number,
  ): LiveOrder {
    const { state } = this.changes;
    const account = state.accountAt(command.account);
    const market = state.marketAt(command.market);
    const { outcome, side, at } = command;
    const number = ++state.lastOrder;
    const index = account.histories.orders.length;
    const order = new LiveOrder(number, account, market, outcome, side, type, price, quantity, amount, at, index);
    account.histories.orders.append(encodeOrder(order, 'ACTIVE', 0));
    widen(account.ordersByMarket, market.number, index);
    if (side === 'SELL') this.ledger.lockShares(account, assetOf(market.number, outcome), quantity);
    return order;
  }

  #lock(order: LiveOrder, micros: number): void {
    this.ledger.lock(order.account, micros);
    order.lockedMicros = micros;
  }

  /** Unlocks the funds that the order still locks. */
  #free(order: LiveOrder): void {
    if (order.side === 'SELL') {
      this.ledger.lockShares(order.account, assetOf(order.market.number, order.outcome), -order.remaining);
      return;
    }
    this.ledger.lock(order.account, -order.lockedMicros);
    order.lockedMicros = 0;
  }

  #canRest(order: LiveOrder): boolean {
    if (order.side === 'SELL') return true;
    relock(this.ledger, order, this.changes.state.takerFeeBps);
    return order.lockedMicros >= worth(order.price, order.remaining);
  }

  #rest(order: LiveOrder): void {
    order.market.book.add(order);
    order.market.liquidity += worth(order.price, order.remaining);
    order.account.orders.set(order.number, order);
    this.changes.state.orders.set(order.number, order);
  }

  #withdraw(order: LiveOrder): void {
    order.market.book.remove(order);
    order.market.liquidity -= worth(order.price, order.remaining);
    this.#free(order);
  }

  #finish(order: LiveOrder, status: OrderStatus, at: number): void {
    const { account } = order;
    account.histories.orders.update(order.historyIndex, encodeOrder(order, status, at));
    account.orders.delete(order.number);
    this.changes.state.orders.delete(order.number);
    if (status === 'FILLED') this.#report(order, status, 'filled', at);
    else this.#report(order, status, status === 'FAILED' ? 'failed' : 'cancelled', at);
  }

  #report(order: LiveOrder, status: OrderStatus, cause: OrderUpdate['cause'], at: number): void {
    const { state, outbox } = this.changes;
    if (!outbox.hasListeners('orderUpdate')) return;
    outbox.push('orderUpdate', { order: liveOrderView(state, order, status, at), cause, at });
  }
}
