import type { Changes } from './changes.js';
import type { Account, Position } from './entities.js';
import { exact, shareOfCost } from './units.js';

/**
 * Changes the money and shares of accounts. A change that would make a balance negative or inexact is a bug: it throws,
 * and the exchange stops before the error spreads.
 */
export class Ledger {
  constructor(private readonly changes: Changes) {}

  /** Adds to the free USDC; a negative amount subtracts. */
  addFree(account: Account, micros: number): void {
    account.free = notNegative(account.free + micros, 'free USDC', account);
    this.changes.touchUsdc(account);
  }

  /** Locks free USDC; a negative amount unlocks. */
  lock(account: Account, micros: number): void {
    if (micros === 0) return;
    account.locked = notNegative(account.locked + micros, 'locked USDC', account);
    this.addFree(account, -micros);
  }

  /** Removes locked USDC from the account. */
  spendLocked(account: Account, micros: number): void {
    account.locked = notNegative(account.locked - micros, 'locked USDC', account);
    this.changes.touchUsdc(account);
  }

  /** Locks held shares; a negative number unlocks. */
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

  /** Removes locked shares that were sold for `proceeds`, and their part of the cost basis. */
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

  /** Removes a whole position and pays `payout` for it. */
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
