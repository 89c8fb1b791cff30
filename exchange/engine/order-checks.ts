import { assetOf } from './assets.js';
import type { LimitCommand, MarketCommand, TpslCommand } from './commands.js';
import type { LimitRequest, MarketRequest, TpslRequest } from './core.js';
import type { Account, Market } from './entities.js';
import { lockOf } from './matching.js';
import { type Checked, isRefused, type Refused, refuse } from './rejections.js';
import type { State } from './state.js';
import type { Outcome } from './types.js';
import { MAX_MONEY, MAX_QUANTITY, sharesFromHundredths, usdcFromMicros } from './units.js';

interface Target {
  readonly account: Account;
  readonly market: Market;
  readonly outcome: Outcome;
}

/** Checks order requests and turns them into commands or rejections. Does not change the state. */
export class OrderChecks {
  constructor(private readonly state: State) {}

  limit(request: LimitRequest, at: number): Checked<LimitCommand> {
    const { side, price, quantity } = request;
    if (!isPrice(price)) return refuse('price-out-of-range', 'price must be 0.01 to 0.99 in steps of 0.01');
    const wrong = wrongQuantity(quantity);
    if (wrong) return wrong;
    const target = this.#target(request);
    if (isRefused(target)) return target;
    const { account, market, outcome } = target;
    if (side === 'BUY') {
      const needed = lockOf(price, quantity, this.state.takerFeeBps);
      if (needed > account.free) return shortOfUsdc(needed, account.free);
    } else {
      const short = shortOfShares(target, quantity, true);
      if (short) return short;
    }
    const numbers = { account: account.number, market: market.number, outcome };
    return { ok: true, command: { do: 'limit', at, ...numbers, side, price, quantity } };
  }

  market(request: MarketRequest, at: number): Checked<MarketCommand> {
    const amount = request.side === 'BUY' ? request.amountMicros : 0;
    const quantity = request.side === 'SELL' ? request.quantity : 0;
    if (request.side === 'BUY' && !isAmount(amount)) {
      return refuse('bad-amount', 'amount must be positive, in steps of 0.000001 USDC');
    }
    const wrong = request.side === 'SELL' ? wrongQuantity(quantity) : undefined;
    if (wrong) return wrong;
    const target = this.#target(request);
    if (isRefused(target)) return target;
    const { account, market, outcome } = target;
    if (amount > account.free) return shortOfUsdc(amount, account.free);
    const short = request.side === 'SELL' ? shortOfShares(target, quantity, true) : undefined;
    if (short) return short;
    const numbers = { account: account.number, market: market.number, outcome };
    return { ok: true, command: { do: 'market', at, ...numbers, side: request.side, quantity, amount } };
  }

  tpsl(request: TpslRequest, at: number): Checked<TpslCommand> {
    const { quantity, takeProfit, stopLoss } = request;
    if (takeProfit === undefined && stopLoss === undefined) {
      return refuse('tpsl-without-price', 'a take-profit or a stop-loss price is needed');
    }
    for (const price of [takeProfit, stopLoss]) {
      if (price !== undefined && !isPrice(price)) {
        return refuse('price-out-of-range', 'take-profit and stop-loss must be 0.01 to 0.99 in steps of 0.01');
      }
    }
    const wrong = wrongQuantity(quantity);
    if (wrong) return wrong;
    const target = this.#target(request);
    if (isRefused(target)) return target;
    const short = shortOfShares(target, quantity, false);
    if (short) return short;
    const numbers = { account: target.account.number, market: target.market.number, outcome: target.outcome };
    const prices = { takeProfit: takeProfit ?? null, stopLoss: stopLoss ?? null };
    return { ok: true, command: { do: 'tpsl', at, ...numbers, quantity, ...prices } };
  }

  #target(request: { userId: string; eventId: string; marketId: string; assetId: string }): Target | Refused {
    const account = this.state.accountsById.get(request.userId);
    if (!account) return refuse('unknown-account', `no account ${request.userId}`);
    const event = this.state.eventsById.get(request.eventId);
    if (!event) return refuse('unknown-event', `no event ${request.eventId}`);
    const market = this.state.marketsById.get(request.marketId);
    if (market?.event !== event) return refuse('unknown-market', `no market ${request.marketId} in this event`);
    const { assetId } = request;
    const outcome = assetId === market.yesAssetId ? 'YES' : assetId === market.noAssetId ? 'NO' : undefined;
    if (!outcome) return refuse('unknown-asset', `no asset ${assetId} in this market`);
    if (market.resolved) return refuse('market-resolved', 'the market is resolved');
    return { account, market, outcome };
  }
}

const isPrice = (price: number): boolean => Number.isInteger(price) && price >= 1 && price <= 99;
export const isAmount = (micros: number): boolean => Number.isInteger(micros) && micros > 0 && micros <= MAX_MONEY;

function wrongQuantity(quantity: number): Refused | undefined {
  if (Number.isInteger(quantity) && quantity > 0 && quantity <= MAX_QUANTITY) return undefined;
  return refuse('bad-quantity', `quantity must be 0.01 to ${sharesFromHundredths(MAX_QUANTITY)} in steps of 0.01`);
}

function shortOfUsdc(needed: number, free: number): Refused {
  return refuse('insufficient-usdc', `${usdcFromMicros(needed)} USDC needed with fee, ${usdcFromMicros(free)} free`);
}

/** @param onlyFree whether shares locked by other orders are excluded */
function shortOfShares(target: Target, quantity: number, onlyFree: boolean): Refused | undefined {
  const position = target.account.positions.get(assetOf(target.market.number, target.outcome));
  const held = position ? position.shares - (onlyFree ? position.locked : 0) : 0;
  if (held >= quantity) return undefined;
  const [wanted, there] = [sharesFromHundredths(quantity), sharesFromHundredths(held)];
  return refuse('insufficient-shares', `${wanted} shares needed, ${there} ${onlyFree ? 'free' : 'held'}`);
}
