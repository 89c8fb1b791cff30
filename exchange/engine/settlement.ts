import { assetOf } from './assets.js';
import { Book } from './book.js';
import type { Changes } from './changes.js';
import type { LiveOrder, Market } from './entities.js';
import type { Ledger } from './ledger.js';
import type { OrderHandler } from './order-handler.js';
import type { TpslHandler } from './tpsl-handler.js';
import type { Outcome } from './types.js';
import { PAIR_MICROS } from './units.js';

/** Settles a market: cancels open orders, pays positions, publishes the last chance. */
export class Settlement {
  constructor(
    private readonly changes: Changes,
    private readonly ledger: Ledger,
    private readonly orders: OrderHandler,
    private readonly tpsl: TpslHandler,
  ) {}

  resolve(market: Market, winner: Outcome, at: number): void {
    const { state, outbox } = this.changes;
    this.orders.cancelAll(market, at);
    this.tpsl.cancelAll(market);
    for (const outcome of ['YES', 'NO'] as const) this.#pay(market, outcome, outcome === winner, at);
    market.book = new Book<LiveOrder>();
    market.yesShares = 0;
    market.noShares = 0;
    market.resolved = { winner, at };
    this.changes.publish(market, at);
    market.chances.seal();
    const { event, marketId } = market;
    outbox.push('marketResolved', { eventId: event.eventId, marketId, winner, at });
    if (event.open) return;
    state.openEvents.delete(event);
    outbox.push('eventClosed', { eventId: event.eventId, at });
  }

  /** One PAYOUT per account that holds the outcome; its amount is 0 for the losing outcome. */
  #pay(market: Market, outcome: Outcome, won: boolean, at: number): void {
    const asset = assetOf(market.number, outcome);
    for (const account of this.changes.state.accounts) {
      const position = account.positions.get(asset);
      if (!position) continue;
      const payout = won ? position.shares * PAIR_MICROS : 0;
      this.ledger.settle(account, asset, payout, at);
      this.changes.transaction(account, 'PAYOUT', payout, at, asset);
    }
  }
}
