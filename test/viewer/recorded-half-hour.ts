import { polled, trade } from '../sql/account-data.js';
import { ago, collectorEvent, eventSeen, searchPoll, tick, type WarehouseData } from '../sql/warehouse-data.js';

export const MINUTES = 30;
/** In which the order book was not observed, seconds ago. */
export const GAP = { begins: 570, ends: 270 };

/** One event with two markets, recorded for half an hour, and an account that traded; the order book has a gap. */
export async function recordHalfHour(data: WarehouseData): Promise<void> {
  const markets = ['red', 'blue'];
  const seconds = MINUTES * 60;
  const event = { title: 'Which club wins the cup?', category: 'football', markets, closes_at: ago(-3600) };
  await data.insert('event_observations', [eventSeen('cup', ago(seconds), event), eventSeen('cup', ago(2), event)]);
  await data.insert('polls', [searchPoll(ago(seconds + 1)), searchPoll(ago(3))]);
  const named = (market: string) => ({ market, event: 'cup', name: market, yes_asset: `${market} yes`, poll_id: 'p' });
  await data.insert(
    'market_observations',
    markets.map((market) => ({ ...named(market), no_asset: `${market} no`, received_at: ago(2), yes_price: 0.5 })),
  );
  const subscribed = (sequence: number, at: number, stream: string, connection_id = stream) =>
    collectorEvent('s', sequence, ago(at), 'subscribed', { ...{ stream, connection_id, event: 'cup', markets } });
  await data.insert('collector_events', [
    collectorEvent('s', 1, ago(seconds), 'session-started', { collector: 'office', version: '0.1.0' }),
    subscribed(2, seconds, 'order-book'),
    subscribed(3, seconds, 'chance'),
    collectorEvent('s', 4, ago(GAP.begins), 'disconnected', {
      ...{ stream: 'order-book', connection_id: 'order-book', cause: 'reset' },
    }),
    subscribed(5, GAP.ends, 'order-book', 'another'),
    collectorEvent('s', 6, ago(0.5), 'heartbeat', { acknowledged: { 'chancery.order-book': 0 } }),
  ]);
  const minutes = Array.from({ length: MINUTES }, (_, i) => i).filter((i) => 60 * i < GAP.ends || 60 * i >= GAP.begins);
  await data.insert(
    'price_ticks',
    markets.flatMap((market) =>
      minutes.map((i) => tick(market, ago(60 * i + 1), (40 + (i % 7)) / 100, { event: 'cup' })),
    ),
  );
  const own = { side: 'BUY', market: 'red', event: 'cup', asset: 'red yes', quantity: '10', price: '0.4', page: 0 };
  await data.insert('trade_records', [
    trade('fund', 'fund 1', { ...own, executed_at: ago(600), received_at: ago(3), _index: 1, fee: '0.01' }),
  ]);
  const { receipt, page: read } = polled('trades', 'fund', ago(2));
  await data.insert('polls', [receipt]);
  await data.insert('account_pages', [{ ...read, items: 1, account: 'fund' }]);
}
