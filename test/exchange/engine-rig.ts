import { afterEach } from 'vitest';
import type { Clock } from '../../core/index.js';
import {
  Engine,
  type EventView,
  type ExchangeOptions,
  type MarketView,
  MICROS,
  type OrderView,
  type Outcome,
  type Result,
  type Side,
} from '../../exchange/engine/index.js';
import { ManualClock } from '../support/clocks.js';

const running: Engine[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((engine) => engine.stop()));
});

export const quietOptions = (clock: Clock): ExchangeOptions => ({
  seed: 1,
  events: 0,
  bots: 0,
  pace: 0,
  accounts: 0,
  takerFeeBps: 20,
  clock,
});

/** A started engine without bots; stopped after the test. */
export async function startEngine(options: Partial<ExchangeOptions> = {}, clock: Clock = new ManualClock()) {
  const engine = new Engine({ ...quietOptions(clock), ...options });
  await engine.start(new AbortController().signal);
  running.push(engine);
  return engine;
}

/** The value of a result that must be successful. */
export function good<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.rejection.code}: ${result.rejection.message}`);
  return result.value;
}

/** The code of a result that must be a rejection. */
export function refusal(result: Result<unknown>): string {
  if (result.ok) throw new Error('it was accepted');
  return result.rejection.code;
}

export function openUser(engine: Engine, email: string, usdc = 1000): string {
  const request = { email, passwordHash: 'x', depositMicros: Math.round(usdc * MICROS) };
  return good(engine.openAccount(request)).userId;
}

export function openMarkets(engine: Engine, chances: readonly number[] = [0.5]): EventView {
  const markets = chances.map((chance, i) => ({ name: `Market ${i + 1}`, chance }));
  return good(engine.openEvent({ title: 'Will the bridge open?', category: 'economy', tags: ['bridge'], markets }));
}

const firstMarket = (event: EventView): MarketView => {
  const [market] = event.markets;
  if (!market) throw new Error('an event without markets');
  return market;
};

/** Orders in one market by short words: `limit(user, 'BUY', 'YES', 40, 1000)`. Prices cents, quantities hundredths. */
export class OrderEntry {
  readonly market: MarketView;

  constructor(
    readonly engine: Engine,
    event: EventView = openMarkets(engine),
  ) {
    this.market = firstMarket(event);
  }

  target(userId: string, outcome: Outcome) {
    const { eventId, marketId, yesAssetId, noAssetId } = this.market;
    return { userId, eventId, marketId, assetId: outcome === 'YES' ? yesAssetId : noAssetId };
  }

  limit(userId: string, side: Side, outcome: Outcome, price: number, quantity: number): Result<OrderView> {
    return this.engine.placeLimit({ ...this.target(userId, outcome), side, price, quantity });
  }

  buyFor(userId: string, outcome: Outcome, amountMicros: number): Result<OrderView> {
    return this.engine.placeMarket({ ...this.target(userId, outcome), side: 'BUY', amountMicros });
  }

  sell(userId: string, outcome: Outcome, quantity: number): Result<OrderView> {
    return this.engine.placeMarket({ ...this.target(userId, outcome), side: 'SELL', quantity });
  }

  /** Shares and cost (micros) that a user holds of an outcome. */
  holds(userId: string, outcome: Outcome): [shares: number, cost: number] {
    const assetId = outcome === 'YES' ? this.market.yesAssetId : this.market.noAssetId;
    const position = this.engine.account(userId)?.positions.find((p) => p.assetId === assetId);
    return [position?.shares ?? 0, position?.costMicros ?? 0];
  }

  /** USDC of a user, micros: total and locked. */
  money(userId: string): [usdc: number, locked: number] {
    const account = this.engine.account(userId);
    return [account?.usdcMicros ?? Number.NaN, account?.lockedMicros ?? Number.NaN];
  }

  now(): MarketView {
    const market = this.engine.market(this.market.marketId);
    if (!market) throw new Error('the market is gone');
    return market;
  }
}
