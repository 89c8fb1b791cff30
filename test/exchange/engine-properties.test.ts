import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Engine, OrderView, TruthTrade } from '../../exchange/engine/index.js';
import { action, everything, Playground } from './engine-actions.js';
import { ManualClock, startEngine } from './engine-rig.js';

const RUNS = { numRuns: 100 };
const actions = fc.array(action, { minLength: 5, maxLength: 150, size: 'max' });

async function playground(takerFeeBps = 20) {
  const clock = new ManualClock();
  const engine = await startEngine({ takerFeeBps }, clock);
  return { engine, play: Playground.begin(engine, clock) };
}

const inMicros = (usdc: number): number => Math.round(usdc * 1e6);

describe('any sequence of actions by several accounts', () => {
  it('keeps all money and shares accounted for, and no balance below zero', async () => {
    await fc.assert(
      fc.asyncProperty(actions, fc.constantFrom(0, 20, 333), async (list, feeBps) => {
        const { engine, play } = await playground(feeBps);
        for (const one of list) {
          play.do(one);
          const { identity, accounts, markets } = engine.truth();
          expect(identity.balanced).toBe(true);
          for (const market of markets) expect(market.shares.yes).toBe(market.shares.no);
          for (const { usdc, locked, positions } of accounts) {
            expect(locked).toBeGreaterThanOrEqual(0);
            expect(usdc).toBeGreaterThanOrEqual(locked);
            for (const { shares, cost } of positions) expect(Math.min(shares, cost)).toBeGreaterThanOrEqual(0);
          }
          for (const user of play.users) expectLocksOf(engine, user);
        }
        await engine.stop();
      }),
      { numRuns: 40 },
    );
  });

  it('fills the best price first, the oldest order first, at the price of the resting order', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (list) => {
        const { engine, play } = await playground();
        const book = new NaiveBook();
        engine.on('fill', (fill) => book.check(fill));
        engine.on('orderUpdate', ({ order, cause }) => {
          if (cause === 'placed') book.place(order);
          if (cause === 'cancelled' || cause === 'failed') book.drop(order);
        });
        for (const one of list) {
          play.do(one);
          book.expectEqual(play.users.flatMap((user) => engine.activeOrders(user)));
          for (const { marketId } of play.event.markets) {
            const market = engine.market(marketId);
            expect(market?.bestBid).toBeLessThan(market?.bestAsk ?? Number.NaN);
            expect([market?.bestBid, market?.bestAsk]).toEqual(book.best(marketId));
          }
        }
        await engine.stop();
      }),
      RUNS,
    );
  });

  it('moves exactly the money that its fills, transactions and payouts say', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (list) => {
        const { engine, play } = await playground();
        for (const one of list) play.do(one);
        const money = new Map<string, number>();
        const add = (user: string, micros: number) => money.set(user, (money.get(user) ?? 0) + micros);
        for (const fill of engine.fillsAfter(0)) for (const [user, micros] of flowsOf(fill)) add(user, micros);
        for (const user of play.users) {
          for (const { type, amountMicros } of engine.transactions(user, { page: 0, size: 1000 }).items) {
            add(user, type === 'WITHDRAWAL' ? -amountMicros : amountMicros);
          }
        }
        for (const user of play.users) expect(engine.account(user)?.usdcMicros).toBe(money.get(user));
        await engine.stop();
      }),
      RUNS,
    );
  });

  it('publishes every change of chance, best bid and best ask, and nothing that is no change', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (list) => {
        const { engine, play } = await playground();
        const heard: unknown[] = [];
        const last = new Map(play.event.markets.map((m) => [m.marketId, [m.chance, m.bestBid, m.bestAsk]]));
        engine.on('price', ({ seq, eventId, marketId, chance, bestBid, bestAsk, at }) => {
          expect([chance, bestBid, bestAsk]).not.toEqual(last.get(marketId));
          last.set(marketId, [chance, bestBid, bestAsk]);
          heard.push({ seq, eventId, marketId, c: chance, b: bestBid, a: bestAsk, at });
        });
        for (const one of list) {
          play.do(one);
          for (const { marketId } of play.event.markets) {
            const now = engine.market(marketId);
            expect([now?.chance, now?.bestBid, now?.bestAsk]).toEqual(last.get(marketId));
          }
        }
        expect([...engine.pricesAfter(0)]).toEqual(heard);
        const half = Math.floor(heard.length / 2);
        expect([...engine.pricesAfter(half)]).toEqual(heard.slice(half));
        await engine.stop();
      }),
      RUNS,
    );
  });

  it('ends the same with the same seed, with other IDs for another seed', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (list) => {
        const ends: unknown[] = [];
        for (const seed of [5, 5, 6]) {
          const clock = new ManualClock();
          const engine = await startEngine({ seed }, clock);
          const play = Playground.begin(engine, clock);
          for (const one of list) play.do(one);
          ends.push(everything(engine, play.users));
          await engine.stop();
        }
        expect(ends[1]).toEqual(ends[0]);
        expect(ends[2]).not.toEqual(ends[0]);
      }),
      { numRuns: 20 },
    );
  });
});

/** USDC that a fill moves, micros, by user. */
function flowsOf(fill: TruthTrade): [user: string, micros: number][] {
  const { buyer, seller, kind, takerFee } = fill;
  const price = inMicros(fill.price * fill.quantity);
  const complement = inMicros((1 - fill.price) * fill.quantity);
  const taker: [string, number] = [fill.taker === 'buyer' ? buyer : seller, -inMicros(takerFee)];
  if (kind === 'mint') return [[buyer, -price], [seller, -complement], taker];
  if (kind === 'merge') return [[buyer, complement], [seller, price], taker];
  return [[buyer, -price], [seller, price], taker];
}

/** What open orders must hold is exactly what is locked: a BUY its value and at most its fee on top, a SELL its shares. */
function expectLocksOf(engine: Engine, user: string): void {
  const account = engine.account(user);
  let least = 0;
  let most = 0;
  const shares = new Map<string, number>();
  for (const order of engine.activeOrders(user)) {
    const open = order.quantity - order.filled;
    if (order.side === 'SELL') shares.set(order.assetId, (shares.get(order.assetId) ?? 0) + open);
    else {
      const value = order.price * open * 100;
      least += value;
      most += value + Math.ceil(value * 0.0333) + 1;
    }
  }
  expect(account?.lockedMicros).toBeGreaterThanOrEqual(least);
  expect(account?.lockedMicros).toBeLessThanOrEqual(most);
  for (const p of account?.positions ?? []) expect(p.shares - p.freeShares).toBe(shares.get(p.assetId) ?? 0);
}

interface Resting {
  readonly order: OrderView;
  readonly age: number;
  readonly bids: boolean;
  /** In YES terms, cents. */
  readonly level: number;
  remaining: number;
}

/** The market rules once more, as plainly as can be: a list that is searched. */
class NaiveBook {
  #resting: Resting[] = [];
  #placed = 0;
  /** Filled of orders whose placement was not told yet, by order ID. */
  #taken = new Map<string, number>();

  check(fill: TruthTrade): void {
    const quantity = Math.round(fill.quantity * 100);
    const takerBuys = fill.taker === 'buyer';
    const [takerId, makerId] = takerBuys ? [fill.buyOrderId, fill.sellOrderId] : [fill.sellOrderId, fill.buyOrderId];
    const maker = this.#resting.find((r) => r.order.orderId === makerId);
    expect(maker, 'the maker rests').toBeDefined();
    if (!maker) return;
    const opposite = this.#resting.filter((r) => r.order.marketId === fill.marketId && r.bids === maker.bids);
    opposite.sort((x, y) => (maker.bids ? y.level - x.level : x.level - y.level) || x.age - y.age);
    expect(opposite[0]?.order.orderId, 'the best and oldest is met first').toBe(makerId);
    const inMakersAsset = fill.assetId === maker.order.assetId ? fill.price : 1 - fill.price;
    expect(Math.round(inMakersAsset * 100), 'at the resting price').toBe(maker.order.price);
    expect(fill.buyer).not.toBe(fill.seller);
    maker.remaining -= quantity;
    expect(maker.remaining).toBeGreaterThanOrEqual(0);
    this.#taken.set(takerId, (this.#taken.get(takerId) ?? 0) + quantity);
    this.#resting = this.#resting.filter((r) => r.remaining > 0);
  }

  place(order: OrderView): void {
    const taken = this.#taken.get(order.orderId) ?? 0;
    expect(order.filled).toBe(taken);
    if (order.status !== 'ACTIVE' || order.type === 'MARKET') return;
    const yes = order.outcome === 'YES';
    const level = yes ? order.price : 100 - order.price;
    const bids = (order.side === 'BUY') === yes;
    this.#resting.push({ order, age: this.#placed++, bids, level, remaining: order.quantity - taken });
  }

  drop(order: OrderView): void {
    this.#resting = this.#resting.filter((r) => r.order.orderId !== order.orderId);
  }

  best(marketId: string): [bid: number, ask: number] {
    const levels = (bids: boolean) =>
      this.#resting.filter((r) => r.order.marketId === marketId && r.bids === bids).map((r) => r.level);
    return [Math.max(0, ...levels(true)) / 100, Math.min(100, ...levels(false)) / 100];
  }

  expectEqual(active: readonly OrderView[]): void {
    const plain = (id: string, open: number) => `${id} ${open}`;
    const ours = this.#resting.map((r) => plain(r.order.orderId, r.remaining)).sort();
    expect(active.map((o) => plain(o.orderId, o.quantity - o.filled)).sort()).toEqual(ours);
  }
}
