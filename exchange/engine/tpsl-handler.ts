import { assetOf } from './assets.js';
import type { Changes } from './changes.js';
import type { TpslCommand } from './commands.js';
import { isReached, type Market, type Tpsl } from './entities.js';
import type { OrderHandler } from './order-handler.js';
import { encodeTpsl } from './records.js';
import { known } from './state.js';
import type { TpslStatus } from './types.js';
import { liveTpslView } from './views.js';

/** Holds take-profit and stop-loss orders and sells at market when the last price reaches them. */
export class TpslHandler {
  constructor(
    private readonly changes: Changes,
    private readonly orders: OrderHandler,
  ) {}

  place(command: TpslCommand): Tpsl {
    const { state } = this.changes;
    const { outcome, quantity, takeProfit, stopLoss, at } = command;
    const account = state.accountAt(command.account);
    const market = state.marketAt(command.market);
    const number = ++state.lastTpsl;
    const historyIndex = account.histories.tpsl.length;
    const prices = { takeProfit, stopLoss };
    const tpsl = { number, account, market, outcome, quantity, ...prices, placedAt: at, historyIndex };
    account.histories.tpsl.append(encodeTpsl({ ...tpsl, market: market.number, status: 'ACTIVE', order: 0 }));
    market.tpsl.set(number, tpsl);
    state.tpsl.set(number, tpsl);
    this.#report(tpsl, 'ACTIVE', 0);
    return tpsl;
  }

  cancel(number: number): Tpsl {
    const tpsl = known(this.changes.state.tpsl.get(number), 'TP/SL order', number);
    this.#finish(tpsl, 'CANCELLED', 0);
    return tpsl;
  }

  cancelAll(market: Market): void {
    for (const tpsl of [...market.tpsl.values()]) this.#finish(tpsl, 'CANCELLED', 0);
  }

  /**
   * Triggers every order that the last price has reached, oldest first. A sale may move the price and trigger more orders;
   * each triggers once, so this terminates.
   */
  trigger(market: Market, at: number): void {
    for (let next = firstReached(market); next; next = firstReached(market)) {
      const { account, outcome } = next;
      const position = account.positions.get(assetOf(market.number, outcome));
      const quantity = Math.min(next.quantity, position ? position.shares - position.locked : 0);
      this.#remove(next);
      if (quantity === 0) {
        this.#finish(next, 'FAILED', 0);
        continue;
      }
      const target = { account: account.number, market: market.number, outcome };
      const { order, status } = this.orders.market({ do: 'market', at, ...target, side: 'SELL', quantity, amount: 0 });
      this.#finish(next, status === 'FAILED' ? 'FAILED' : 'TRIGGERED', order.number);
    }
  }

  #finish(tpsl: Tpsl, status: TpslStatus, order: number): void {
    this.#remove(tpsl);
    const record = { ...tpsl, market: tpsl.market.number, status, order };
    tpsl.account.histories.tpsl.update(tpsl.historyIndex, encodeTpsl(record));
    this.#report(tpsl, status, order);
  }

  #remove(tpsl: Tpsl): void {
    tpsl.market.tpsl.delete(tpsl.number);
    this.changes.state.tpsl.delete(tpsl.number);
  }

  #report(tpsl: Tpsl, status: TpslStatus, order: number): void {
    const { state, outbox } = this.changes;
    if (outbox.hasListeners('tpsl')) outbox.push('tpsl', liveTpslView(state, tpsl, status, order));
  }
}

function firstReached(market: Market): Tpsl | undefined {
  for (const tpsl of market.tpsl.values()) if (isReached(tpsl)) return tpsl;
  return undefined;
}
