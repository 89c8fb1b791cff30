import { describe, expect, it } from 'vitest';
import { type OwnOrder, OwnOrders } from '../../bots/own-orders.js';

function placed(orders: OwnOrders, orderId: string, side: 'BUY' | 'SELL', price: number, remaining = 100): OwnOrder {
  const order = { orderId, marketId: 'm', assetId: 'yes', outcome: 'YES', side, price, remaining } as const;
  const kept: OwnOrder = { ...order };
  orders.add(kept);
  return kept;
}

const left = (orders: OwnOrders) => orders.ofMarket('m').map(({ orderId, remaining }) => [orderId, remaining]);

describe('own orders', () => {
  it('assign a purchase to the highest bid first, and among equal ones to the oldest', () => {
    const orders = new OwnOrders();
    placed(orders, 'low', 'BUY', 40);
    placed(orders, 'older', 'BUY', 45);
    placed(orders, 'younger', 'BUY', 45);
    placed(orders, 'ask', 'SELL', 60);
    orders.filled('m', 'yes', 'BUY', 130);
    expect(left(orders)).toEqual([
      ['low', 100],
      ['younger', 70],
      ['ask', 100],
    ]);
    orders.filled('m', 'yes', 'SELL', 25);
    orders.filled('m', 'yes', 'BUY', 1000);
    expect(left(orders)).toEqual([['ask', 75]]);
    expect(orders.oldest?.orderId).toBe('ask');
  });

  it('include an order from the moment it is sent, so that its fill may be received before the response', () => {
    const orders = new OwnOrders();
    const sent: OwnOrder = {
      marketId: 'm',
      assetId: 'yes',
      outcome: 'YES',
      side: 'BUY',
      price: 50,
      remaining: 10,
      orderId: undefined,
    };
    orders.add(sent);
    expect(left(orders)).toEqual([]);
    orders.filled('m', 'yes', 'BUY', 10);
    orders.name(sent, 'late');
    expect(orders.byId('late')).toBeUndefined();
    expect(orders.count).toBe(0);
  });

  it('drop the orders of a resolved market', () => {
    const orders = new OwnOrders();
    placed(orders, 'one', 'BUY', 40);
    orders.removeMarket('m');
    expect([orders.count, orders.byId('one'), left(orders)]).toEqual([0, undefined, []]);
  });
});
