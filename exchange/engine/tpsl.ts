import type { Account } from './account.js';
import type { Market } from './market.js';
import { inYesTerms } from './market.js';
import type { Outcome } from './types.js';

/** An active take-profit or stop-loss order. */
export interface Tpsl {
  readonly number: number;
  readonly account: Account;
  readonly market: Market;
  readonly outcome: Outcome;
  /** Hundredths of a share. */
  readonly quantity: number;
  /** Cents of its asset. */
  readonly takeProfit: number | null;
  readonly stopLoss: number | null;
  readonly placedAt: number;
  /** Its place in the account's history. */
  readonly historyIndex: number;
}

/** Whether the market's last price for its asset is at or beyond one of its prices. */
export function isReached(tpsl: Tpsl): boolean {
  if (tpsl.market.lastPrice === undefined) return false;
  const last = inYesTerms(tpsl.outcome, tpsl.market.lastPrice);
  return (tpsl.takeProfit !== null && last >= tpsl.takeProfit) || (tpsl.stopLoss !== null && last <= tpsl.stopLoss);
}
