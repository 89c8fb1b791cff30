import { assetOf, inYesTerms } from './assets.js';
import type { Changes } from './changes.js';
import { type Account, type LiveOrder, type Market, widen } from './entities.js';
import type { Ledger } from './ledger.js';
import { encodeFill, encodeTrade, type FillSide } from './records.js';
import { affordable, feeOf, worth } from './units.js';
import { fillView } from './views.js';

/** Why matching stopped: filled, no counterparty left, an order of the same account, or no money for one more step. */
type MatchEnd = 'filled' | 'no-counterpart' | 'self-trade' | 'unaffordable';

/** Matches an incoming order with the book: best price first, then oldest first, at the resting order's price. */
export class Matcher {
  constructor(
    private readonly changes: Changes,
    private readonly ledger: Ledger,
    /** Called when a resting order is completely filled. */
    private readonly onMakerFilled: (order: LiveOrder, at: number) => void,
  ) {}

  match(taker: LiveOrder, at: number): MatchEnd {
    const { book } = taker.market;
    const { takerFeeBps } = this.changes.state;
    while (taker.remaining > 0) {
      const maker = book.firstAgainst(taker.bids);
      if (!maker || !crosses(taker, maker)) return 'no-counterpart';
      if (maker.account === taker.account) return 'self-trade';
      let quantity = Math.min(taker.remaining, maker.remaining);
      if (taker.side === 'BUY') {
        const price = inYesTerms(taker.outcome, maker.level);
        quantity = Math.min(quantity, affordable(price, budgetOf(taker), takerFeeBps));
        if (quantity === 0) return 'unaffordable';
      }
      this.#fill(taker, maker, quantity, at);
    }
    return 'filled';
  }

  #fill(taker: LiveOrder, maker: LiveOrder, quantity: number, at: number): void {
    const { market } = taker;
    const { state, outbox } = this.changes;
    const { level } = maker;
    const price = inYesTerms(taker.outcome, level);
    const fee = feeOf(price, quantity, state.takerFeeBps);
    const record = { at, market: market.number, level, quantity, fee, taker: sideOf(taker), maker: sideOf(maker) };
    const seq = state.fills.append(encodeFill(record)) + 1;
    this.#settleSide(taker, price, quantity, fee, at);
    this.#settleSide(maker, maker.price, quantity, 0, at);
    if (maker.side === 'BUY') relock(this.ledger, maker, state.takerFeeBps);
    this.#noteTrade(taker.account, market, seq, false);
    this.#noteTrade(maker.account, market, seq, true);
    state.fees += fee;
    const made = taker.side === 'BUY' && maker.side === 'BUY' ? quantity : 0;
    const merged = taker.side === 'SELL' && maker.side === 'SELL' ? quantity : 0;
    market.yesShares += made - merged;
    market.noShares += made - merged;
    market.lastPrice = level;
    market.trades += 1;
    market.volume.add(worth(price, quantity), at);
    market.liquidity -= worth(maker.price, quantity);
    if (maker.remaining === 0) market.book.remove(maker);
    if (outbox.hasListeners('fill')) outbox.push('fill', fillView(state, seq, record));
    this.changes.publish(market, at);
    if (maker.remaining === 0) this.onMakerFilled(maker, at);
  }

  /** Books money and shares of one side. A BUY pays from its locked USDC; only the rounding of fees may take free USDC. */
  #settleSide(order: LiveOrder, price: number, quantity: number, fee: number, at: number): void {
    const { account, market, outcome } = order;
    const value = worth(price, quantity);
    const asset = assetOf(market.number, outcome);
    order.remaining -= quantity;
    order.filled += quantity;
    order.filledMicros += value;
    account.volume += value;
    account.feesPaid += fee;
    if (order.side === 'SELL') {
      this.ledger.sellLocked(account, asset, quantity, value, at);
      this.ledger.addFree(account, value - fee);
      return;
    }
    const due = value + fee;
    const locked = Math.min(due, order.lockedMicros);
    order.lockedMicros -= locked;
    this.ledger.spendLocked(account, locked);
    if (due > locked) this.ledger.addFree(account, locked - due);
    this.ledger.addShares(account, asset, quantity, value, order.number, at);
  }

  #noteTrade(account: Account, market: Market, seq: number, maker: boolean): void {
    const index = account.histories.trades.append(encodeTrade(seq, maker, market.number));
    widen(account.tradesByMarket, market.number, index);
  }
}

/** USDC that a limit BUY locks: its value and the taker fee on all of it, micros. */
export const lockOf = (price: number, quantity: number, feeBps: number): number =>
  worth(price, quantity) + feeOf(price, quantity, feeBps);

/**
 * Unlocks what the rest of a limit BUY does not need. If too little is locked (each fill rounds its fee up), locks the
 * difference from free USDC, as far as there is any.
 */
export function relock(ledger: Ledger, order: LiveOrder, feeBps: number): void {
  const wanted = lockOf(order.price, order.remaining, feeBps);
  const more = Math.min(wanted - order.lockedMicros, order.account.free);
  ledger.lock(order.account, more);
  order.lockedMicros += more;
}

function crosses(taker: LiveOrder, maker: LiveOrder): boolean {
  return taker.bids ? maker.level <= taker.level : maker.level >= taker.level;
}

/** A market BUY spends the USDC it locked; a limit BUY may also use free USDC, for fees that were rounded up. */
function budgetOf(taker: LiveOrder): number {
  return taker.type === 'MARKET' ? taker.lockedMicros : taker.lockedMicros + taker.account.free;
}

function sideOf(order: LiveOrder): FillSide {
  return { order: order.number, account: order.account.number, outcome: order.outcome, side: order.side };
}
