import type { Changes } from './changes.js';
import type { Account, Position } from './entities.js';
import { exact, shareOfCost } from './units.js';

/**
 * Moves money and shares of accounts. Every move refuses to leave an exact integer behind that is negative: such a
 * move would be a bug, and stops the exchange before it spreads.
 */
export class Ledger {
  constructor(private readonly changes: Changes) {}

  /** Adds to the free USDC (or takes from it, when negative). */
  addFree(account: Account, micros: number): void {
    account.free = notNegative(account.free + micros, 'free USDC', account);
    this.changes.touchUsdc(account);
  }

  /** Moves free USDC into locks (or back, when negative). */
  lock(account: Account, micros: number): void {
    if (micros === 0) return;
    account.locked = notNegative(account.locked + micros, 'locked USDC', account);
    this.addFree(account, -micros);
  }

  /** Takes locked USDC out of the account. */
  spendLocked(account: Account, micros: number): void {
    account.locked = notNegative(account.locked - micros, 'locked USDC', account);
    this.changes.touchUsdc(account);
  }

  /** Moves held shares into locks (or back, when negative). */
  lockShares(account: Account, asset: number, shares: number): void {
    if (shares === 0) return;
    const position = this.#position(account, asset);
    position.locked = notNegative(position.locked + shares, 'locked shares', account);
    notNegative(position.shares - position.locked, 'free shares', account);
    this.changes.touchShares(account, asset);
  }

  addShares(account: Account, asset: number, shares: number, cost: number, order: number, at: number): void {
    let position = account.positions.get(asset);
    if (!position) {
      position = { asset, shares: 0, locked: 0, cost: 0, openedAt: at, order };
      account.positions.set(asset, position);
    }
    position.shares = exact(position.shares + shares);
    position.cost = exact(position.cost + cost);
    this.changes.touchShares(account, asset);
  }

  /** Takes locked shares out, sold for `proceeds`: their part of the cost leaves with them. */
  sellLocked(account: Account, asset: number, shares: number, proceeds: number, at: number): void {
    const position = this.#position(account, asset);
    const cost = shareOfCost(position.cost, shares, position.shares);
    position.locked = notNegative(position.locked - shares, 'locked shares', account);
    position.shares = notNegative(position.shares - shares, 'shares', account);
    position.cost = notNegative(position.cost - cost, 'cost', account);
    account.realisedPnl = exact(account.realisedPnl + proceeds - cost);
    if (position.shares === 0) this.#close(account, asset, at);
    this.changes.touchShares(account, asset);
  }

  /** Takes a whole position out, paid with `payout`. */
  settle(account: Account, asset: number, payout: number, at: number): void {
    const position = this.#position(account, asset);
    account.realisedPnl = exact(account.realisedPnl + payout - position.cost);
    this.#close(account, asset, at);
    this.changes.touchShares(account, asset);
    if (payout > 0) this.addFree(account, payout);
  }

  #close(account: Account, asset: number, at: number): void {
    account.positions.delete(asset);
    account.closedPositions += 1;
    account.lastClosedAt = at;
  }

  #position(account: Account, asset: number): Position {
    const position = account.positions.get(asset);
    if (!position) throw new RangeError(`account ${account.number} holds nothing of asset ${asset}`);
    return position;
  }
}

function notNegative(value: number, what: string, account: Account): number {
  if (exact(value) < 0) throw new RangeError(`${what} of account ${account.number} would be ${value}`);
  return value;
}
