import { describe, expect, it } from 'vitest';
import { good, OrderEntry, openMarkets, openUser, refusal, startEngine } from './engine-rig.js';

/** One share, in the engine's unit. */
const SHARE = 100;
const USDC = 1_000_000;

async function entry(takerFeeBps = 0) {
  const engine = await startEngine({ takerFeeBps });
  const [ann, bob, cid] = ['ann', 'bob', 'cid'].map((name) => openUser(engine, `${name}@example.test`));
  if (!ann || !bob || !cid) throw new Error('no users');
  return { engine, entry: new OrderEntry(engine), ann, bob, cid };
}

const fills = (engine: { fillsAfter(seq: number): Iterable<object> }) => [...engine.fillsAfter(0)];

describe('a fill', () => {
  it('mints a pair when a bid for YES meets a bid for NO at the complement [1/quote]', async () => {
    const { engine, entry: market, ann, bob } = await entry();
    good(market.limit(ann, 'BUY', 'YES', 60, 10 * SHARE));
    good(market.limit(bob, 'BUY', 'NO', 40, 10 * SHARE));
    expect(market.holds(ann, 'YES')).toEqual([10 * SHARE, 6 * USDC]);
    expect(market.holds(bob, 'NO')).toEqual([10 * SHARE, 4 * USDC]);
    expect(market.money(ann)).toEqual([994 * USDC, 0]);
    expect(market.now()).toMatchObject({ shares: { yes: 1000, no: 1000 }, chance: 0.6, trades: 1 });
    expect(fills(engine)).toMatchObject([
      { kind: 'mint', price: 0.6, quantity: 10, buyer: ann, seller: bob, taker: 'seller' },
    ]);
    expect(engine.truth().identity).toMatchObject({ backing: 10, balanced: true });
  });

  it('transfers YES shares between a buyer and a seller of YES, and NO shares in terms of NO [1/quote]', async () => {
    const { engine, entry: market, ann, bob, cid } = await entry();
    good(market.limit(ann, 'BUY', 'YES', 60, 10 * SHARE));
    good(market.limit(bob, 'BUY', 'NO', 40, 10 * SHARE));
    good(market.limit(ann, 'SELL', 'YES', 70, 4 * SHARE));
    good(market.limit(cid, 'BUY', 'YES', 75, 4 * SHARE));
    good(market.limit(cid, 'BUY', 'NO', 25, 2 * SHARE));
    good(market.limit(bob, 'SELL', 'NO', 20, 2 * SHARE));
    expect(fills(engine).slice(1)).toMatchObject([
      { kind: 'transfer', assetId: market.market.yesAssetId, price: 0.7, buyer: cid, seller: ann, taker: 'buyer' },
      { kind: 'transfer', assetId: market.market.noAssetId, price: 0.25, buyer: cid, seller: bob, taker: 'seller' },
    ]);
    expect(market.holds(ann, 'YES')).toEqual([6 * SHARE, 3.6 * USDC]);
    expect(engine.account(ann)?.realisedPnlMicros).toBe(0.4 * USDC);
    expect(engine.account(bob)?.realisedPnlMicros).toBe(-0.3 * USDC);
    expect(market.now().shares).toEqual({ yes: 1000, no: 1000 });
  });

  it('merges a pair when a seller of YES meets a seller of NO, and returns its backing', async () => {
    const { engine, entry: market, ann, bob } = await entry();
    good(market.limit(ann, 'BUY', 'YES', 60, 10 * SHARE));
    good(market.limit(bob, 'BUY', 'NO', 40, 10 * SHARE));
    good(market.limit(ann, 'SELL', 'YES', 55, 3 * SHARE));
    good(market.limit(bob, 'SELL', 'NO', 45, 3 * SHARE));
    expect(fills(engine).at(-1)).toMatchObject({ kind: 'merge', price: 0.55, buyer: bob, seller: ann, taker: 'buyer' });
    expect(market.now().shares).toEqual({ yes: 700, no: 700 });
    expect(market.money(ann)[0] + market.money(bob)[0]).toBe(2000 * USDC - 7 * USDC);
    expect(engine.truth().identity).toMatchObject({ backing: 7, balanced: true });
  });

  it('happens at the price of the resting order, best price first, then the older order [3/market-executes]', async () => {
    const { engine, entry: market, ann, bob, cid } = await entry();
    const first = good(market.limit(ann, 'BUY', 'NO', 45, 2 * SHARE));
    const second = good(market.limit(bob, 'BUY', 'NO', 45, 2 * SHARE));
    const better = good(market.limit(bob, 'BUY', 'NO', 50, SHARE));
    good(market.limit(cid, 'BUY', 'YES', 80, 4 * SHARE));
    expect(fills(engine)).toMatchObject([
      { price: 0.5, quantity: 1, sellOrderId: better.orderId },
      { price: 0.55, quantity: 2, sellOrderId: first.orderId },
      { price: 0.55, quantity: 1, sellOrderId: second.orderId },
    ]);
    expect(market.holds(cid, 'YES')).toEqual([4 * SHARE, 2.15 * USDC]);
  });

  it('counts as volume at the price of the asset that the taker trades', async () => {
    const { entry: market, ann, bob } = await entry();
    good(market.limit(ann, 'BUY', 'YES', 60, 10 * SHARE));
    good(market.limit(bob, 'BUY', 'NO', 40, 10 * SHARE));
    expect(market.now().volumeMicros).toBe(4 * USDC);
  });
});

describe('a limit order', () => {
  it('locks value and fee of a BUY, and frees the rest after a better price', async () => {
    const { entry: market, ann, bob } = await entry(20);
    good(market.limit(ann, 'BUY', 'YES', 33, SHARE / 100));
    expect(market.money(ann)).toEqual([1000 * USDC, 3307]);
    good(market.limit(bob, 'BUY', 'NO', 80, SHARE / 100));
    expect(market.money(ann)).toEqual([1000 * USDC - 3300, 0]);
    expect(market.money(bob)).toEqual([1000 * USDC - 6700 - 14, 0]);
  });

  it('locks the shares of a SELL, so that they cannot be sold twice', async () => {
    const { engine, entry: market, ann, bob } = await entry();
    good(market.limit(ann, 'BUY', 'YES', 60, 10 * SHARE));
    good(market.limit(bob, 'BUY', 'NO', 40, 10 * SHARE));
    const sale = good(market.limit(ann, 'SELL', 'YES', 70, 8 * SHARE));
    expect(refusal(market.limit(ann, 'SELL', 'YES', 70, 3 * SHARE))).toBe('insufficient-shares');
    good(engine.cancel(ann, sale.orderId));
    good(market.limit(ann, 'SELL', 'YES', 70, 10 * SHARE));
  });

  it('rests with its unfilled quantity, and unlocks everything when it is cancelled [3/limit-rests]', async () => {
    const { engine, entry: market, ann, bob } = await entry(20);
    good(market.limit(ann, 'BUY', 'NO', 50, 3 * SHARE));
    const order = good(market.limit(bob, 'BUY', 'YES', 52, 10 * SHARE));
    expect(order).toMatchObject({ status: 'ACTIVE', filled: 3 * SHARE, quantity: 10 * SHARE });
    expect(market.now()).toMatchObject({ bestBid: 0.52, bestAsk: 1 });
    expect(market.money(bob)).toEqual([1000 * USDC - 1.5 * USDC - 3000, 3.64 * USDC + 7280]);
    expect(good(engine.cancel(bob, order.orderId))).toMatchObject({ status: 'CANCELLED', filled: 3 * SHARE });
    expect(market.money(bob)[1]).toBe(0);
    expect(refusal(engine.cancel(bob, order.orderId))).toBe('unknown-order');
  });

  it('is refused with the reason when a field is out of range or unknown', async () => {
    const { engine, entry: market, ann } = await entry();
    expect(refusal(market.limit(ann, 'BUY', 'YES', 0, SHARE))).toBe('price-out-of-range');
    expect(refusal(market.limit(ann, 'BUY', 'YES', 100, SHARE))).toBe('price-out-of-range');
    expect(refusal(market.limit(ann, 'BUY', 'YES', 50.5, SHARE))).toBe('price-out-of-range');
    expect(refusal(market.limit(ann, 'BUY', 'YES', 50, 0))).toBe('bad-quantity');
    expect(refusal(market.limit(ann, 'BUY', 'YES', 50, 1.5))).toBe('bad-quantity');
    expect(refusal(market.limit(ann, 'BUY', 'YES', 50, 1e15))).toBe('bad-quantity');
    expect(refusal(market.limit(ann, 'BUY', 'YES', 99, 100_000 * SHARE))).toBe('insufficient-usdc');
    expect(refusal(market.limit(ann, 'SELL', 'YES', 50, SHARE))).toBe('insufficient-shares');
    expect(refusal(market.limit('nobody', 'BUY', 'YES', 50, SHARE))).toBe('unknown-account');
    const order = { ...market.target(ann, 'YES'), side: 'BUY', price: 50, quantity: SHARE } as const;
    const other = openMarkets(engine);
    expect(refusal(engine.placeLimit({ ...order, eventId: 'x' }))).toBe('unknown-event');
    expect(refusal(engine.placeLimit({ ...order, eventId: other.eventId }))).toBe('unknown-market');
    expect(refusal(engine.placeLimit({ ...order, assetId: order.marketId }))).toBe('unknown-asset');
    expect(engine.orders(ann, { page: 0, size: 10 }).total).toBe(0);
  });

  it('never trades with its own account: the rest is cancelled', async () => {
    const { engine, entry: market, ann, bob } = await entry();
    good(market.limit(bob, 'BUY', 'NO', 50, SHARE));
    const own = good(market.limit(ann, 'BUY', 'NO', 45, 5 * SHARE));
    const order = good(market.limit(ann, 'BUY', 'YES', 60, 4 * SHARE));
    expect(order).toMatchObject({ status: 'CANCELLED', filled: SHARE });
    expect(engine.activeOrders(ann).map((o) => o.orderId)).toEqual([own.orderId]);
    expect(market.money(ann)).toEqual([1000 * USDC - 0.5 * USDC, 2.25 * USDC]);
  });
});

describe('a market order', () => {
  it('spends at most its amount, fee included, in whole hundredths of a share', async () => {
    const { entry: market, ann, bob } = await entry(20);
    good(market.limit(ann, 'BUY', 'NO', 67, 100 * SHARE));
    const order = good(market.buyFor(bob, 'YES', USDC));
    // 3.02 shares cost 0.9966 and 0.001994 fee; 3.03 would cost 1.0019.
    expect(order).toMatchObject({ status: 'FILLED', filled: 302, filledMicros: 996_600, price: 0, quantity: 0 });
    expect(market.money(bob)).toEqual([1000 * USDC - 996_600 - 1994, 0]);
  });

  it('cancels the quantity that the book cannot fill, and fails without a counterparty', async () => {
    const { engine, entry: market, ann, bob } = await entry();
    expect(good(market.buyFor(bob, 'YES', USDC)).status).toBe('FAILED');
    expect(market.money(bob)).toEqual([1000 * USDC, 0]);
    good(market.limit(ann, 'BUY', 'NO', 60, SHARE));
    expect(good(market.buyFor(bob, 'YES', 10 * USDC))).toMatchObject({ status: 'CANCELLED', filled: SHARE });
    expect(good(market.sell(bob, 'YES', SHARE)).status).toBe('FAILED');
    good(market.limit(ann, 'BUY', 'YES', 30, SHARE / 2));
    expect(good(market.sell(bob, 'YES', SHARE))).toMatchObject({ status: 'CANCELLED', filled: SHARE / 2 });
    expect(market.holds(bob, 'YES')).toEqual([SHARE / 2, 0.2 * USDC]);
    expect(engine.truth().identity.balanced).toBe(true);
  });

  it('fails when its amount does not buy one step', async () => {
    const { entry: market, ann, bob } = await entry();
    good(market.limit(ann, 'BUY', 'NO', 50, SHARE));
    expect(good(market.buyFor(bob, 'YES', 4999)).status).toBe('FAILED');
    expect(good(market.buyFor(bob, 'YES', 5000))).toMatchObject({ status: 'FILLED', filled: 1 });
  });
});

describe('a fee', () => {
  it('is paid by the taker alone, rounds up per fill, and goes to the exchange', async () => {
    const { engine, entry: market, ann, bob } = await entry(20);
    good(market.limit(ann, 'BUY', 'NO', 67, 1));
    good(market.limit(ann, 'BUY', 'NO', 67, 2));
    good(market.limit(bob, 'BUY', 'YES', 33, 3));
    expect(fills(engine)).toMatchObject([{ takerFee: 0.000007 }, { takerFee: 0.000014 }]);
    expect(engine.account(bob)?.feesPaidMicros).toBe(21);
    expect(engine.account(ann)?.feesPaidMicros).toBe(0);
    expect(engine.truth().identity).toMatchObject({ fees: 0.000021, balanced: true });
  });

  it('of several fills may exceed the locked amount by rounding: free USDC pays it, or the rest is cancelled', async () => {
    const engine = await startEngine({ takerFeeBps: 20 });
    const ann = openUser(engine, 'ann@example.test');
    // Exactly what three hundredths at 0.33 lock: 9900 and 20 fee. Three fills of one cost 3 × 7 fee.
    const bob = openUser(engine, 'bob@example.test', 0.00992);
    const market = new OrderEntry(engine);
    for (let i = 0; i < 3; i++) good(market.limit(ann, 'BUY', 'NO', 67, 1));
    const order = good(market.limit(bob, 'BUY', 'YES', 33, 3));
    expect(order).toMatchObject({ status: 'CANCELLED', filled: 2 });
    expect(market.money(bob)).toEqual([9920 - 6614, 0]);
    expect(engine.truth().identity.balanced).toBe(true);
  });
});

describe('average cost', () => {
  it('leaves with the sold part, rounded half to even to a millionth', async () => {
    const { engine, entry: market, ann, bob } = await entry();
    good(market.limit(ann, 'BUY', 'NO', 67, 1));
    good(market.limit(ann, 'BUY', 'NO', 66, 2));
    good(market.limit(bob, 'BUY', 'YES', 34, 3));
    // 3300 + 2 × 3400 = 10100 for 3 hundredths: one costs 3366.67.
    expect(market.holds(bob, 'YES')).toEqual([3, 10_100]);
    good(market.limit(ann, 'BUY', 'YES', 50, 1));
    good(market.sell(bob, 'YES', 1));
    expect(market.holds(bob, 'YES')).toEqual([2, 10_100 - 3367]);
    expect(engine.account(bob)?.realisedPnlMicros).toBe(5000 - 3367);
  });
});

describe('resolving a market', () => {
  it('pays one USDC per winning share, nothing for the others, and cancels open orders', async () => {
    const { engine, entry: market, ann, bob } = await entry();
    good(market.limit(ann, 'BUY', 'YES', 60, 10 * SHARE));
    good(market.limit(bob, 'BUY', 'NO', 40, 10 * SHARE));
    const open = good(market.limit(ann, 'BUY', 'YES', 10, SHARE));
    const { eventId, marketId } = market.market;
    good(engine.resolveMarket(eventId, marketId, 'NO'));
    expect(market.money(ann)).toEqual([994 * USDC, 0]);
    expect(market.money(bob)).toEqual([1006 * USDC, 0]);
    expect(market.now()).toMatchObject({ chance: 0, bestBid: 0, bestAsk: 1, shares: { yes: 0, no: 0 } });
    expect(engine.account(ann)).toMatchObject({ realisedPnlMicros: -6 * USDC, positions: [], closedPositions: 1 });
    expect(engine.orders(ann, { page: 0, size: 1 }).items).toMatchObject([
      { orderId: open.orderId, status: 'CANCELLED' },
    ]);
    const payouts = (user: string) => engine.transactions(user, { page: 0, size: 1 }).items;
    expect(payouts(bob)).toMatchObject([{ type: 'PAYOUT', amountMicros: 10 * USDC, assetId: market.market.noAssetId }]);
    expect(payouts(ann)).toMatchObject([{ type: 'PAYOUT', amountMicros: 0, assetId: market.market.yesAssetId }]);
    expect(engine.truth().identity).toMatchObject({ backing: 0, balanced: true });
    expect(refusal(market.limit(ann, 'BUY', 'YES', 50, SHARE))).toBe('market-resolved');
    expect(refusal(engine.resolveMarket(eventId, marketId, 'YES'))).toBe('market-resolved');
  });

  it('closes the event with its last market, after its last chance', async () => {
    const { engine } = await entry();
    const event = openMarkets(engine, [0.3, 0.7]);
    const told: unknown[] = [];
    engine.on('price', ({ marketId, chance }) => told.push([marketId, chance]));
    engine.on('marketResolved', ({ winner }) => told.push(winner));
    engine.on('eventClosed', ({ eventId }) => told.push(eventId));
    const [first, second] = event.markets.map((market) => market.marketId) as [string, string];
    good(engine.resolveMarket(event.eventId, first, 'YES'));
    expect(engine.events().some((e) => e.eventId === event.eventId)).toBe(true);
    good(engine.resolveMarket(event.eventId, second, 'NO'));
    expect(told).toEqual([[first, 1], 'YES', [second, 0], 'NO', event.eventId]);
    expect(engine.events().some((e) => e.eventId === event.eventId)).toBe(false);
    expect(engine.event(event.eventId)).toMatchObject({ open: false });
  });
});

describe('a take-profit or stop-loss order', () => {
  async function holder() {
    const all = await entry();
    good(all.entry.limit(all.bob, 'BUY', 'NO', 50, 10 * SHARE));
    good(all.entry.limit(all.ann, 'BUY', 'YES', 50, 10 * SHARE));
    return all;
  }

  it('sells at market when the last price reaches the take-profit [3/tpsl-closes]', async () => {
    const { engine, entry: market, ann, bob, cid } = await holder();
    const request = { ...market.target(ann, 'YES'), quantity: 4 * SHARE, takeProfit: 60, stopLoss: 40 };
    const tpsl = good(engine.placeTpsl(request));
    expect(tpsl.status).toBe('ACTIVE');
    good(market.limit(cid, 'BUY', 'YES', 60, 5 * SHARE));
    good(market.limit(bob, 'BUY', 'NO', 40, SHARE));
    const [after] = engine.tpslOrders(ann);
    expect(after).toMatchObject({ tpslId: tpsl.tpslId, status: 'TRIGGERED' });
    expect(engine.orders(ann, { page: 0, size: 1 }).items).toMatchObject([
      { orderId: after?.orderId, type: 'MARKET', side: 'SELL', status: 'FILLED', filled: 4 * SHARE },
    ]);
    expect(market.holds(ann, 'YES')).toEqual([6 * SHARE, 3 * USDC]);
  });

  it('of NO triggers at the price of NO', async () => {
    const { engine, entry: market, ann, bob, cid } = await holder();
    good(engine.placeTpsl({ ...market.target(bob, 'NO'), quantity: 10 * SHARE, stopLoss: 40 }));
    good(market.limit(cid, 'BUY', 'NO', 40, 20 * SHARE));
    good(market.limit(ann, 'BUY', 'YES', 60, SHARE));
    expect(market.holds(bob, 'NO')).toEqual([0, 0]);
    expect(engine.tpslOrders(bob)).toMatchObject([{ status: 'TRIGGERED' }]);
  });

  it('fails without a buyer or without shares, and is cancelled with its market', async () => {
    const { engine, entry: market, ann, bob, cid } = await holder();
    const request = { ...market.target(ann, 'YES'), quantity: 4 * SHARE };
    good(engine.placeTpsl({ ...request, takeProfit: 55 }));
    good(engine.placeTpsl({ ...request, takeProfit: 99 }));
    good(market.limit(cid, 'BUY', 'NO', 45, SHARE));
    good(market.buyFor(bob, 'YES', 55 * 10_000));
    expect(engine.tpslOrders(ann).map((t) => t.status)).toEqual(['FAILED', 'ACTIVE']);
    good(engine.resolveMarket(market.market.eventId, market.market.marketId, 'YES'));
    expect(engine.tpslOrders(ann).map((t) => t.status)).toEqual(['FAILED', 'CANCELLED']);
  });

  it('is refused without a price, out of range or for shares that are not held, and can be cancelled once', async () => {
    const { engine, entry: market, ann, bob } = await holder();
    const request = { ...market.target(ann, 'YES'), quantity: 4 * SHARE };
    expect(refusal(engine.placeTpsl(request))).toBe('tpsl-without-price');
    expect(refusal(engine.placeTpsl({ ...request, stopLoss: 0 }))).toBe('price-out-of-range');
    expect(refusal(engine.placeTpsl({ ...request, quantity: 11 * SHARE, stopLoss: 9 }))).toBe('insufficient-shares');
    const { tpslId } = good(engine.placeTpsl({ ...request, stopLoss: 9 }));
    expect(refusal(engine.cancelTpsl(bob, tpslId))).toBe('unknown-tpsl');
    expect(good(engine.cancelTpsl(ann, tpslId)).status).toBe('CANCELLED');
    expect(refusal(engine.cancelTpsl(ann, tpslId))).toBe('unknown-tpsl');
  });
});

describe('accounts', () => {
  it('accept deposits, and withdrawals of free funds only', async () => {
    const { engine, entry: market, ann } = await entry();
    good(market.limit(ann, 'BUY', 'YES', 50, 1000 * SHARE));
    expect(refusal(engine.withdraw(ann, 501 * USDC))).toBe('insufficient-usdc');
    good(engine.withdraw(ann, 500 * USDC));
    good(engine.deposit(ann, 7));
    expect(market.money(ann)).toEqual([500 * USDC + 7, 500 * USDC]);
    expect(refusal(engine.deposit(ann, 0))).toBe('bad-amount');
    expect(refusal(engine.deposit(ann, 1.5))).toBe('bad-amount');
    expect(refusal(engine.deposit(ann, 1e15))).toBe('bad-amount');
    expect(engine.transactions(ann, { page: 0, size: 9 }).items.map((t) => [t.type, t.amountMicros])).toEqual([
      ['DEPOSIT', 7],
      ['WITHDRAWAL', 500 * USDC],
      ['DEPOSIT', 1000 * USDC],
    ]);
    expect(engine.truth().identity).toMatchObject({ deposits: 3000.000007, withdrawals: 500, balanced: true });
  });

  it('are found by email in any case and by their active key only', async () => {
    const { engine, ann } = await entry();
    const key = { id: 'k', key: 'pk_1', secret: 's', createdAt: 1, expiresAt: null };
    good(engine.setApiKey(ann, key));
    good(engine.setApiKey(ann, { ...key, key: 'pk_2' }));
    expect(engine.apiKeyHolder('pk_1')).toBeUndefined();
    expect(engine.apiKeyHolder('pk_2')?.userId).toBe(ann);
    good(engine.blockKey(ann));
    expect(engine.credentials(ann)).toMatchObject({ keyBlocked: true, apiKey: { key: 'pk_2' } });
    expect(engine.accountByEmail('ANN@example.test')?.userId).toBe(ann);
    const again = { email: 'Ann@Example.test', passwordHash: 'x', depositMicros: 0 };
    expect(refusal(engine.openAccount(again))).toBe('email-taken');
  });
});
