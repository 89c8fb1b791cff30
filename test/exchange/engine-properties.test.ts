// `expect` would cost more than the engine: it is asked a hundred thousand times here.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { Engine, OrderView, TruthTrade } from '../../exchange/engine/index.js';
import { ManualClock } from '../support/clocks.js';
import { action, everything, Playground } from './engine-actions.js';
import { startEngine } from './engine-rig.js';

const RUNS = { numRuns: 100 };
const actions = fc.array(action, { minLength: 5, maxLength: 150, size: 'max' });

async function playground(takerFeeBps = 20) {
  const clock = new ManualClock();
  const engine = await startEngine({ takerFeeBps }, clock);
  return { engine, play: Playground.begin(engine, clock) };
}

const inMicros = (usdc: number): number => Math.round(usdc * 1e6);

describe('any sequence of actions by several accounts', () => {
  it('accounts for all money and shares, without negative balances', async () => {
    await fc.assert(
      fc.asyncProperty(actions, fc.constantFrom(0, 20, 333), async (list, feeBps) => {
        const { engine, play } = await playground(feeBps);
        for (const one of list) {
          play.do(one);
          const { identity, accounts, markets } = engine.truth();
          assert.equal(identity.balanced, true);
          for (const market of markets) assert.equal(market.shares.yes, market.shares.no);
          for (const { usdc, locked, positions } of accounts) {
            assert.ok(locked >= 0);
            assert.ok(usdc >= locked);
            for (const { shares, cost } of positions) assert.ok(Math.min(shares, cost) >= 0);
          }
          for (const user of play.users) expectLocksOf(engine, user);
        }
        await engine.stop();
      }),
      RUNS,
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
            assert.ok(market && market.bestBid < market.bestAsk);
            assert.deepEqual([market.bestBid, market.bestAsk], book.best(marketId));
          }
        }
        await engine.stop();
      }),
      RUNS,
    );
  });

  it('moves exactly the money of its fills, transactions and payouts', async () => {
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
        for (const user of play.users) assert.equal(engine.account(user)?.usdcMicros, money.get(user));
        await engine.stop();
      }),
      RUNS,
    );
  });

  it('publishes every change of chance, best bid and best ask, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (list) => {
        const { engine, play } = await playground();
        const heard: unknown[] = [];
        const last = new Map(play.event.markets.map((m) => [m.marketId, [m.chance, m.bestBid, m.bestAsk]]));
        engine.on('price', ({ seq, eventId, marketId, chance, bestBid, bestAsk, at }) => {
          assert.notDeepEqual([chance, bestBid, bestAsk], last.get(marketId));
          last.set(marketId, [chance, bestBid, bestAsk]);
          heard.push({ seq, eventId, marketId, c: chance, b: bestBid, a: bestAsk, at });
        });
        for (const one of list) {
          play.do(one);
          for (const { marketId } of play.event.markets) {
            const now = engine.market(marketId);
            assert.deepEqual([now?.chance, now?.bestBid, now?.bestAsk], last.get(marketId));
          }
        }
        assert.deepEqual([...engine.pricesAfter(0)], heard);
        const half = Math.floor(heard.length / 2);
        assert.deepEqual([...engine.pricesAfter(half)], heard.slice(half));
        await engine.stop();
      }),
      RUNS,
    );
  });

  it('is deterministic for a seed, with other IDs for another seed', async () => {
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
        assert.deepEqual(ends[1], ends[0]);
        assert.notDeepEqual(ends[2], ends[0]);
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

/** Exactly the funds of open orders are locked: for a BUY its value and at most its fee, for a SELL its shares. */
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
  assert.ok(account && account.lockedMicros >= least && account.lockedMicros <= most);
  for (const p of account.positions) assert.equal(p.shares - p.freeShares, shares.get(p.assetId) ?? 0);
}

interface Resting {
  readonly order: OrderView;
  readonly age: number;
  readonly bids: boolean;
  /** In YES terms, cents. */
  readonly level: number;
  remaining: number;
}

/** A naive implementation of the market rules, with a list that is searched. */
class NaiveBook {
  #resting: Resting[] = [];
  #placed = 0;
  /** Filled quantity of orders whose placement was not reported yet, by order ID. */
  #taken = new Map<string, number>();

  check(fill: TruthTrade): void {
    const quantity = Math.round(fill.quantity * 100);
    const takerBuys = fill.taker === 'buyer';
    const [takerId, makerId] = takerBuys ? [fill.buyOrderId, fill.sellOrderId] : [fill.sellOrderId, fill.buyOrderId];
    const maker = this.#resting.find((r) => r.order.orderId === makerId);
    assert.ok(maker, 'the maker rests');
    const opposite = this.#resting.filter((r) => r.order.marketId === fill.marketId && r.bids === maker.bids);
    opposite.sort((x, y) => (maker.bids ? y.level - x.level : x.level - y.level) || x.age - y.age);
    assert.equal(opposite[0]?.order.orderId, makerId, 'the best and oldest is met first');
    const inMakersAsset = fill.assetId === maker.order.assetId ? fill.price : 1 - fill.price;
    assert.equal(Math.round(inMakersAsset * 100), maker.order.price, 'at the resting price');
    assert.notEqual(fill.buyer, fill.seller);
    maker.remaining -= quantity;
    assert.ok(maker.remaining >= 0);
    this.#taken.set(takerId, (this.#taken.get(takerId) ?? 0) + quantity);
    this.#resting = this.#resting.filter((r) => r.remaining > 0);
  }

  place(order: OrderView): void {
    const taken = this.#taken.get(order.orderId) ?? 0;
    assert.equal(order.filled, taken);
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
    assert.deepEqual(active.map((o) => plain(o.orderId, o.quantity - o.filled)).sort(), ours);
  }
}
