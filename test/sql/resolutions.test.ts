import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { polled, seen, trade } from './account-data.js';
import { ago, collectorEvent, eventSeen, tick, time, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;
let payouts = 0;

/** A market that event search lists, with the assets `<market> yes` and `<market> no`. */
const listed = (market: string): Values => ({
  ...{ market, event: 'e', received_at: time(0), poll_id: 'p', name: `name of ${market}` },
  ...{ yes_asset: `${market} yes`, no_asset: `${market} no`, yes_price: 0.5, no_price: 0.5 },
});

const held = (account: string, asset: string, quantity: string): Values =>
  trade(account, `${account} ${asset}`, { asset, market: asset.split(' ')[0], quantity, price: '0.5' });

function paid(account: string, asset: string, amount: string, fields: Values = {}): Values {
  payouts += 1;
  return {
    ...{ ...seen(account, time(300), 'p'), transaction_id: `payout ${payouts}`, asset, amount },
    ...{ type: 'PAYOUT', status: 'COMPLETED', created_at: time(200), ...fields },
  };
}

const chance = (market: string, seconds: number, value: number): Values => ({
  ...{ market, event: 'e', received_at: time(seconds), occurred_at: time(seconds), chance: value, source: 'change' },
});

const EMPTY_BOOK = { event: 'e', bid: null, ask: null };
const PAID = '2026-01-05 12:03:20.000000';

beforeAll(async () => {
  data = new WarehouseData(host.database);
  const markets = ['open', 'yes', 'no', 'lost', 'other', 'refund', 'both', 'sold', 'failed', 'empty', 'first'];
  await data.insert('market_observations', markets.map(listed));
  // Of `ann` every trade up to the payouts is known, of `bob` not.
  const { receipt, page } = polled('trades', 'ann', time(900));
  await data.insert('polls', [receipt]);
  await data.insert('account_pages', [{ ...page, items: 0 }]);
  await data.insert('trade_records', [
    ...[held('ann', 'yes yes', '10'), held('ann', 'no no', '4'), held('ann', 'lost yes', '3')],
    ...[held('ann', 'refund yes', '8'), held('ann', 'both yes', '10'), held('ann', 'both no', '5')],
    ...[held('ann', 'failed yes', '1'), held('bob', 'sold yes', '20'), held('bob', 'other no', '6')],
    held('bob', 'refund yes', '2'),
  ]);
  await data.insert('transaction_records', [
    ...[paid('ann', 'yes yes', '10'), paid('ann', 'no no', '4'), paid('ann', 'lost yes', '0')],
    ...[paid('ann', 'refund yes', '4'), paid('ann', 'both yes', '6'), paid('ann', 'both no', '2')],
    // Some sales of these 20 shares were not recorded: 5 paid 1 each.
    paid('bob', 'sold yes', '5'),
    paid('ann', 'failed yes', '1', { status: 'FAILED' }),
  ]);
  await data.insert('chance_points', [chance('yes', 100, 1), chance('other', 100, 0.3), chance('other', 150, 0)]);
  await data.insert('price_ticks', [
    tick('open', time(10), 0.4, { event: 'e' }),
    tick('first', time(10), 0, { event: 'e', bid: 0.2, ask: 0.4 }),
    tick('empty', time(10), 0.9, { event: 'e' }),
    tick('empty', time(120), 1, EMPTY_BOOK),
    tick('unlisted', time(10), 0.5, { event: 'e' }),
  ]);
});

describe('resolutions', () => {
  it('are yes, no, void or unresolved, with their basis, the settlement prices and when it was known', async () => {
    const rows = await data.ask(
      `SELECT market, resolution, basis, yes_settlement_price AS yes, no_settlement_price AS no, paid_at, known_at
       FROM resolutions ORDER BY market`,
    );
    const none = { yes: null, no: null, paid_at: null, known_at: null };
    expect(rows).toEqual([
      // 10 shares of YES were paid 6 USDC, 5 of NO 2: no outcome won.
      { market: 'both', resolution: 'void', basis: 'payout', yes: 0.6, no: 0.4, paid_at: PAID, known_at: null },
      {
        ...{ market: 'empty', resolution: 'yes', basis: 'final chance', yes: 1, no: 0 },
        ...{ paid_at: null, known_at: '2026-01-05 12:02:00.000000' },
      },
      { market: 'failed', resolution: 'unresolved', basis: 'none', ...none },
      // A last price of 0 before the first trade: the book has orders.
      { market: 'first', resolution: 'unresolved', basis: 'none', ...none },
      // The YES asset was paid 0.
      { market: 'lost', resolution: 'no', basis: 'payout', yes: 0, no: 1, paid_at: PAID, known_at: null },
      { market: 'no', resolution: 'no', basis: 'payout', yes: 0, no: 1, paid_at: PAID, known_at: null },
      { market: 'open', resolution: 'unresolved', basis: 'none', ...none },
      {
        ...{ market: 'other', resolution: 'no', basis: 'final chance', yes: 0, no: 1 },
        ...{ paid_at: null, known_at: '2026-01-05 12:02:30.000000' },
      },
      // 8 shares were paid 4 USDC.
      { market: 'refund', resolution: 'void', basis: 'payout', yes: 0.5, no: null, paid_at: PAID, known_at: null },
      { market: 'sold', resolution: 'yes', basis: 'payout', yes: 1, no: 0, paid_at: PAID, known_at: null },
      { market: 'unlisted', resolution: 'unresolved', basis: 'none', ...none },
      {
        ...{ market: 'yes', resolution: 'yes', basis: 'payout', yes: 1, no: 0 },
        ...{ paid_at: PAID, known_at: '2026-01-05 12:01:40.000000' },
      },
    ]);
  });

  it('have the event and name of the market, and its last chance', async () => {
    const rows = await data.ask(
      `SELECT market, event, name, chance FROM resolutions WHERE market IN ('open', 'other', 'unlisted') ORDER BY market`,
    );
    expect(rows).toEqual([
      { market: 'open', event: 'e', name: 'name of open', chance: 0.4 },
      { market: 'other', event: 'e', name: 'name of other', chance: 0 },
      { market: 'unlisted', event: '', name: null, chance: 0.5 },
    ]);
  });

  it('are what profit and loss uses: payouts that were received, others as inferred, refunds of void markets', async () => {
    const rows = await data.ask(
      `SELECT account, asset, settlement, price, payout, realised_pnl, payout_difference FROM pnl_by_asset
       WHERE market IN ('refund', 'other', 'both', 'failed') ORDER BY account, asset`,
    );
    const ann = { account: 'ann', payout_difference: null };
    expect(rows).toEqual([
      { ...ann, asset: 'both no', settlement: 'payout', price: 0.4, payout: 2, realised_pnl: -0.5 },
      { ...ann, asset: 'both yes', settlement: 'payout', price: 0.6, payout: 6, realised_pnl: 1 },
      { ...ann, asset: 'failed yes', settlement: 'open', price: null, payout: 0, realised_pnl: 0 },
      { ...ann, asset: 'refund yes', settlement: 'payout', price: 0.5, payout: 4, realised_pnl: 0 },
      // 6 shares of NO at 0.5 each, which won.
      {
        ...{ account: 'bob', asset: 'other no', settlement: 'inferred', price: 1, payout: 6, realised_pnl: 3 },
        payout_difference: null,
      },
      {
        ...{ account: 'bob', asset: 'refund yes', settlement: 'inferred', price: 0.5, payout: 1, realised_pnl: 0 },
        payout_difference: null,
      },
    ]);
  });
});

describe('the step of the price to 0 or 1', () => {
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const at = (seconds: number) => ago(seconds, now);

  beforeAll(async () => {
    const on = { stream: 'order-book', connection_id: 'step', event: 'es', markets: ['won', 'lost out'] };
    await data.insert('event_observations', [eventSeen('es', at(3000)), eventSeen('es', at(0))]);
    await data.insert('collector_events', [
      collectorEvent('step', 1, at(3000), 'session-started'),
      collectorEvent('step', 2, at(3000), 'subscribed', on),
      collectorEvent('step', 3, at(0), 'heartbeat'),
    ]);
    const book = { event: 'es', bid: 0.5, ask: 0.7 };
    await data.insert('price_ticks', [
      tick('won', at(2400), 0.6, book),
      tick('won', at(2390), 0.625, book),
      tick('won', at(2380), 1, { event: 'es', bid: null, ask: null }),
      tick('won', at(1200), 1, { event: 'es', bid: null, ask: null }),
      tick('lost out', at(2400), 0.4, book),
      tick('lost out', at(2340), 0, { event: 'es', bid: null, ask: null }),
    ]);
  });

  it('is in no candle', async () => {
    const rows = await data.ask(
      `SELECT market, open, high, low, close, ticks FROM candles(period_seconds = 60) WHERE event = 'es' ORDER BY market`,
    );
    expect(rows).toEqual([
      { market: 'lost out', open: 0.4, high: 0.4, low: 0.4, close: 0.4, ticks: 1 },
      { market: 'won', open: 0.6, high: 0.625, low: 0.6, close: 0.625, ticks: 2 },
    ]);
  });

  it('moves no mover', async () => {
    const rows = await data.ask(
      `SELECT market, price_before, price_now, change, high, low, ticks FROM movers(window_seconds = 3600) WHERE event = 'es' ORDER BY market`,
    );
    expect(rows).toEqual([
      { market: 'lost out', price_before: 0.4, price_now: 0.4, change: 0, high: 0.4, low: 0.4, ticks: 1 },
      {
        market: 'won',
        price_before: 0.6,
        price_now: 0.625,
        change: 0.025000000000000022,
        high: 0.625,
        low: 0.6,
        ticks: 2,
      },
    ]);
  });

  it('ends the last spread', async () => {
    const rows = await data.ask(
      `SELECT market, ticks, round(average_spread, 6) AS average_spread, two_sided, round(seconds, 3) AS seconds
       FROM spread_stats(window_seconds = 3600) WHERE event = 'es' ORDER BY market`,
    );
    expect(rows).toEqual([
      { market: 'lost out', ticks: 1, average_spread: 0.2, two_sided: 1, seconds: 60 },
      { market: 'won', ticks: 2, average_spread: 0.2, two_sided: 1, seconds: 20 },
    ]);
  });
});
