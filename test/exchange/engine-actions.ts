import fc from 'fast-check';
import type { Engine, EventView, MarketView, Outcome } from '../../exchange/engine/index.js';
import type { ManualClock } from '../support/clocks.js';
import { openUser } from './engine-rig.js';

/** An action of a user; the user, market or open order is resolved when it is executed. */
export type Action =
  | {
      readonly kind: 'limit';
      readonly who: number;
      readonly what: number;
      readonly price: number;
      readonly size: number;
    }
  | { readonly kind: 'market'; readonly who: number; readonly what: number; readonly size: number }
  | { readonly kind: 'cancel'; readonly who: number; readonly which: number }
  | {
      readonly kind: 'tpsl';
      readonly who: number;
      readonly what: number;
      readonly price: number;
      readonly size: number;
    }
  | { readonly kind: 'cancel-tpsl'; readonly who: number; readonly which: number }
  | { readonly kind: 'deposit' | 'withdraw'; readonly who: number; readonly micros: number }
  | { readonly kind: 'resolve'; readonly what: number }
  | { readonly kind: 'wait'; readonly seconds: number };

const who = fc.nat(3);
/** Market, outcome and side in one number. */
const what = fc.nat(11);
const price = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 45, max: 55 }) }, fc.integer({ min: 1, max: 99 }));
const size = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 5000 }));
const which = fc.nat(30);

export const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 150, arbitrary: fc.record({ kind: fc.constant('limit' as const), who, what, price, size }) },
  { weight: 40, arbitrary: fc.record({ kind: fc.constant('market' as const), who, what, size }) },
  { weight: 30, arbitrary: fc.record({ kind: fc.constant('cancel' as const), who, which }) },
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('tpsl' as const), who, what, price, size }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('cancel-tpsl' as const), who, which }) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constantFrom('deposit', 'withdraw'),
      who,
      micros: fc.integer({ min: 1, max: 3e7 }),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.double({ min: 0, max: 3, noNaN: true }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resolve' as const), what }) },
);

/** Four users and an event of two markets, and a way to let the users act. Refused actions change nothing. */
export class Playground {
  private constructor(
    readonly engine: Engine,
    private readonly clock: ManualClock,
    readonly users: readonly string[],
    readonly event: EventView,
  ) {}

  static begin(engine: Engine, clock: ManualClock): Playground {
    const users = ['a', 'b', 'c', 'd'].map((name) => openUser(engine, `${name}@example.test`, 60));
    const markets = [0.5, 0.25].map((chance, i) => ({ name: `Candidate ${i}`, chance }));
    const opened = engine.openEvent({ title: 'Who wins?', category: 'sports', tags: [], markets });
    if (!opened.ok) throw new Error(opened.rejection.message);
    return new Playground(engine, clock, users, opened.value);
  }

  /** The same users and event on an engine that resumed from this one's data. */
  on(engine: Engine, clock: ManualClock): Playground {
    return new Playground(engine, clock, this.users, this.event);
  }

  do(one: Action): boolean {
    const { engine } = this;
    switch (one.kind) {
      case 'limit':
        return engine.placeLimit({ ...this.target(one), side: sideOf(one.what), price: one.price, quantity: one.size })
          .ok;
      case 'market': {
        const target = this.target(one);
        return sideOf(one.what) === 'BUY'
          ? engine.placeMarket({ ...target, side: 'BUY', amountMicros: one.size * 5003 }).ok
          : engine.placeMarket({ ...target, side: 'SELL', quantity: one.size }).ok;
      }
      case 'tpsl': {
        const prices = one.what < 6 ? { takeProfit: one.price } : { stopLoss: one.price };
        return engine.placeTpsl({ ...this.target(one), quantity: one.size, ...prices }).ok;
      }
      case 'cancel': {
        const orders = engine.activeOrders(this.user(one.who));
        const order = orders[one.which % Math.max(1, orders.length)];
        return order !== undefined && engine.cancel(order.userId, order.orderId).ok;
      }
      case 'cancel-tpsl': {
        const active = engine.tpslOrders(this.user(one.who)).filter((t) => t.status === 'ACTIVE');
        const tpsl = active[one.which % Math.max(1, active.length)];
        return tpsl !== undefined && engine.cancelTpsl(tpsl.userId, tpsl.tpslId).ok;
      }
      case 'resolve':
        return engine.resolveMarket(this.event.eventId, this.market(one.what).marketId, outcomeOf(one.what)).ok;
      case 'wait':
        this.clock.micros += Math.round(one.seconds * 1e6);
        return true;
      default:
        return engine[one.kind](this.user(one.who), one.micros).ok;
    }
  }

  user(index: number): string {
    return this.users[index % this.users.length] ?? '';
  }

  private market(index: number): MarketView {
    return this.event.markets[index % 2] as MarketView;
  }

  private target(one: { who: number; what: number }) {
    const market = this.market(one.what);
    const assetId = outcomeOf(one.what) === 'YES' ? market.yesAssetId : market.noAssetId;
    return { userId: this.user(one.who), eventId: market.eventId, marketId: market.marketId, assetId };
  }
}

const sideOf = (index: number): 'BUY' | 'SELL' => (index < 8 ? 'BUY' : 'SELL');
const outcomeOf = (index: number): Outcome => (Math.floor(index / 2) % 2 === 0 ? 'YES' : 'NO');

/** Everything that the outside can read of an engine, as one plain value. */
export function everything(engine: Engine, users: readonly string[]): unknown {
  const all = { page: 0, size: 1e6 };
  const markets = engine.truth().markets.map((market) => market.marketId);
  return {
    truth: engine.truth(),
    events: engine.events(),
    markets: markets.map((marketId) => engine.market(marketId)),
    chances: markets.map((marketId) => engine.chancePoints(marketId, 0, 1e12)),
    prices: [...engine.pricesAfter(0)],
    fills: [...engine.fillsAfter(0)],
    activity: engine.activity(all),
    accounts: users.map((user) => [
      engine.account(user),
      engine.credentials(user),
      engine.activeOrders(user),
      engine.orders(user, all),
      engine.trades(user, all),
      engine.transactions(user, all),
      engine.tpslOrders(user),
    ]),
  };
}
