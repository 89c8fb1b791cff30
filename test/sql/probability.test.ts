import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { trade as accountTrade, seen } from './account-data.js';
import { collectorEvent, eventSeen, searchPoll, tick, time, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

const book = (market: string, seconds: number, last: number, bid: number | null, ask: number | null): Values =>
  tick(market, time(seconds), last, { event: 'cup', bid, ask });

/** Arguments: the period in seconds, and from and to, in seconds after noon. */
const within = (period: number, from: number, to: number) =>
  `(period_seconds = ${period}, from_at = '${time(from)}', to_at = '${time(to)}')`;
const since = (column: string) => `toUnixTimestamp(${column}) - 1767614400 AS t`;

beforeAll(async () => {
  data = new WarehouseData(host.database);
  await data.insert('event_observations', [
    eventSeen('cup', time(0), { markets: ['a', 'b'], created_at: time(-100), closes_at: time(300) }),
    eventSeen('cup', time(250), { markets: ['a', 'b'], created_at: time(-100), closes_at: time(300) }),
  ]);
  await data.insert(
    'market_observations',
    ['a', 'b'].map((market) => ({
      ...{ market, event: 'cup', name: `team ${market}`, received_at: time(0), poll_id: 'p' },
      ...{ yes_asset: `${market} yes`, no_asset: `${market} no` },
    })),
  );
  const stream = { stream: 'order-book', event: 'cup', markets: ['a', 'b'] };
  const chances = { ...stream, stream: 'chance', connection_id: 'c' };
  // The order book was observed from 0 to 120 and from 150 to 300.
  await data.insert('collector_events', [
    collectorEvent('s', 1, time(0), 'session-started'),
    collectorEvent('s', 2, time(0), 'subscribed', { ...stream, connection_id: 'b1' }),
    collectorEvent('s', 3, time(0), 'subscribed', chances),
    collectorEvent('s', 4, time(120), 'disconnected', { stream: 'order-book', connection_id: 'b1', cause: 'reset' }),
    collectorEvent('s', 5, time(150), 'subscribed', { ...stream, connection_id: 'b2' }),
    collectorEvent('s', 6, time(300), 'session-stopped', { cause: 'done' }),
  ]);
  await data.insert('price_ticks', [
    book('a', 0, 0.5, 0.48, 0.52),
    book('a', 40, 0.56, 0.54, 0.58),
    { ...book('a', 50, 0.9, 0.89, 0.91), repeated: true },
    book('a', 90, 0.52, null, 0.56),
    book('a', 160, 0.6, 0.58, 0.64),
    book('a', 240, 1, null, null),
    book('b', 10, 0.5, 0.49, 0.51),
    book('b', 40, 0.44, 0.5, 0.52),
    book('b', 90, 0.48, 0.47, 0.49),
    book('b', 160, 0.4, 0.39, 0.41),
  ]);
});

describe('prices at fixed times', () => {
  const columns = 'last, bid, ask, round(mid, 6) AS mid, age_seconds AS age, state';

  it('are the last known ones, with their age, from the first tick to the resolution', async () => {
    const of = (market: string) =>
      data.ask(
        `SELECT ${since('sampled_at')}, ${columns} FROM resampled_prices${within(60, 0, 300)} WHERE market = '${market}' ORDER BY sampled_at`,
      );
    const observed = { state: 'observed' };
    expect(await of('a')).toEqual([
      { t: 0, last: 0.5, bid: 0.48, ask: 0.52, mid: 0.5, age: 0, ...observed },
      { t: 60, last: 0.56, bid: 0.54, ask: 0.58, mid: 0.56, age: 20, ...observed },
      { t: 120, last: 0.52, bid: null, ask: 0.56, mid: null, age: 30, ...observed },
      { t: 180, last: 0.6, bid: 0.58, ask: 0.64, mid: 0.61, age: 20, ...observed },
    ]);
    expect((await of('b')).map(({ t, last, age }) => [t, last, age])).toEqual([
      [60, 0.44, 20],
      [120, 0.48, 30],
      [180, 0.4, 20],
      [240, 0.4, 80],
    ]);
  });

  it('are missing where the event was not observed since the price', async () => {
    const rows = await data.ask(
      `SELECT ${since('sampled_at')}, last, state FROM resampled_prices${within(10, 121, 170)} WHERE market = 'a' ORDER BY sampled_at`,
    );
    expect(rows.map(({ t, last, state }) => [t, last, state])).toEqual([
      [130, 0.52, 'missing'],
      [140, 0.52, 'missing'],
      [150, 0.52, 'missing'],
      [160, 0.6, 'observed'],
    ]);
  });
});

describe('prices weighted by time', () => {
  it('are averages over the observed time', async () => {
    const rows = await data.ask(
      `SELECT ${since('begins_at')}, round(last_twap, 6) AS last, round(mid_twap, 6) AS mid, mid_seconds, observed, backfilled, missing
       FROM time_weighted_prices${within(60, 0, 240)} WHERE market = 'a' ORDER BY begins_at`,
    );
    const whole = { observed: 1, backfilled: 0, missing: 0 };
    expect(rows).toEqual([
      // 40 s at 0.5 and 20 s at 0.56.
      { t: 0, last: 0.52, mid: 0.52, mid_seconds: 60, ...whole },
      // 30 s at 0.56 and 30 s at 0.52, which has no bid.
      { t: 60, last: 0.54, mid: 0.56, mid_seconds: 30, ...whole },
      // Observed from 150: 10 s at 0.52 and 20 s at 0.6, with a mid of 0.61.
      { t: 120, last: 0.573333, mid: 0.61, mid_seconds: 20, observed: 0.5, backfilled: 0, missing: 0.5 },
      { t: 180, last: 0.6, mid: 0.61, mid_seconds: 60, ...whole },
    ]);
  });
});

describe('a range that begins and ends within a second', () => {
  it('has the times and periods that begin in it', async () => {
    const range = (from: number, to: number) =>
      `(period_seconds = 60, from_at = '${time(from)}', to_at = '${time(to)}') WHERE market = 'a' ORDER BY t`;
    const times = async (from: number, to: number) => ({
      periods: (await data.ask(`SELECT ${since('begins_at')} FROM time_weighted_prices${range(from, to)}`)).map(
        (row) => row['t'],
      ),
      samples: (await data.ask(`SELECT ${since('sampled_at')} FROM resampled_prices${range(from, to)}`)).map(
        (row) => row['t'],
      ),
    });
    expect(await times(0.25, 120.25)).toEqual({ periods: [60, 120], samples: [60, 120] });
    expect(await times(0, 120)).toEqual({ periods: [0, 60], samples: [0, 60] });
    expect(await times(60, 120.001)).toEqual({ periods: [60, 120], samples: [60, 120] });
  });
});

describe('realised volatility', () => {
  it('is the root of the squared changes, in all and per day', async () => {
    const rows = await data.ask(
      `SELECT changes, round(last_volatility, 6) AS last, round(last_volatility_per_day, 6) AS per_day, mid_changes,
         round(mid_volatility, 6) AS mid, round(mid_volatility_per_day, 6) AS mid_per_day, observed, missing
       FROM realised_volatility${within(60, 0, 300)} WHERE market = 'a'`,
    );
    // 0.06² + 0.04² + 0.08² = 0.0116 in 3 minutes; mid is known twice in a row only once: 0.06².
    expect(rows).toEqual([
      {
        ...{ changes: 3, last: 0.107703, per_day: 2.359661, mid_changes: 1, mid: 0.06, mid_per_day: 2.27684 },
        ...{ observed: 1, missing: 0 },
      },
    ]);
  });

  it('leaves out changes to and from times that are missing', async () => {
    const rows = await data.ask(
      `SELECT changes, round(last_volatility, 6) AS last, observed, missing
       FROM realised_volatility${within(30, 60, 210)} WHERE market = 'a'`,
    );
    // 60, 90 and 120 are observed, 150 is not, 180 is: only 0.04 and 0.
    expect(rows).toEqual([{ changes: 2, last: 0.04, observed: 0.8, missing: 0.2 }]);
  });
});

describe('the correlation of the outcomes of an event', () => {
  it('is that of the changes between observed times', async () => {
    const rows = await data.ask(
      `SELECT event, market, other_market, changes, round(correlation, 9) AS correlation FROM outcome_correlations${within(30, 0, 240)}`,
    );
    // a: +0.06, -0.04, 0 and, after the gap, 0. b: the opposite.
    expect(rows).toEqual([{ event: 'cup', market: 'a', other_market: 'b', changes: 4, correlation: -1 }]);
  });

  it('is unknown with fewer than three changes', async () => {
    const rows = await data.ask(`SELECT changes, correlation FROM outcome_correlations${within(60, 0, 240)}`);
    expect(rows).toEqual([{ changes: 2, correlation: null }]);
  });

  it('is unknown when one of the two always changes by the same, also where the differences of doubles are not equal', async () => {
    const stream = { stream: 'order-book', event: 'cup3', markets: ['p', 'q'], connection_id: 'd' };
    await data.insert('collector_events', [
      collectorEvent('s3', 1, time(0), 'session-started'),
      collectorEvent('s3', 2, time(0), 'subscribed', stream),
      collectorEvent('s3', 3, time(100), 'session-stopped', { cause: 'done' }),
    ]);
    const prices = { p: [0.1, 0.2, 0.3, 0.4], q: [0.5, 0.52, 0.51, 0.55] };
    await data.insert(
      'price_ticks',
      Object.entries(prices).flatMap(([market, own]) =>
        own.map((last, i) => tick(market, time(5 + 10 * i), last, { event: 'cup3', bid: null, ask: null })),
      ),
    );
    const rows = await data.ask(
      `SELECT changes, correlation FROM outcome_correlations${within(10, 10, 50)} WHERE event = 'cup3'`,
    );
    expect(rows).toEqual([{ changes: 3, correlation: null }]);
  });
});

describe('arbitrage between two markets of an event', () => {
  it('lasts while the bids add up to more than 1', async () => {
    const rows = await data.ask(
      `SELECT event, market, other_market, ${since('begins_at')}, seconds, round(max_profit, 6) AS profit,
         round(observed, 6) AS observed, round(missing, 6) AS missing
       FROM arbitrage_windows(from_at = '${time(0)}', to_at = '${time(300)}') ORDER BY begins_at`,
    );
    const pair = { event: 'cup', market: 'a', other_market: 'b' };
    // 0.54 + 0.5 from 40 to 90, when a has no bid.
    expect(rows).toEqual([{ ...pair, t: 40, seconds: 50, profit: 0.04, observed: 1, missing: 0 }]);
  });

  it('lasts through gaps, whose share is stated, and to the end of the time that is asked for', async () => {
    const quote = (market: string, seconds: number, bid: number, ask: number) =>
      tick(market, time(seconds), 0.5, { event: 'cup2', bid, ask });
    await data.insert('collector_events', [
      collectorEvent('s2', 1, time(0), 'session-started'),
      collectorEvent('s2', 2, time(0), 'subscribed', {
        ...{ stream: 'order-book', event: 'cup2', markets: ['x', 'y', 'z'], connection_id: 'b' },
      }),
      collectorEvent('s2', 3, time(100), 'session-stopped', { cause: 'done' }),
    ]);
    await data.insert('price_ticks', [
      quote('x', 10, 0.6, 0.62),
      quote('y', 20, 0.3, 0.32),
      quote('y', 50, 0.45, 0.47),
      quote('x', 60, 0.65, 0.67),
      // A crossed book is no quote.
      quote('z', 70, 0.9, 0.8),
    ]);
    const rows = await data.ask(
      `SELECT market, other_market, ${since('begins_at')}, seconds, round(max_profit, 6) AS profit, observed, missing
       FROM arbitrage_windows(from_at = '${time(0)}', to_at = '${time(150)}') WHERE event = 'cup2'`,
    );
    expect(rows).toEqual([
      { market: 'x', other_market: 'y', t: 50, seconds: 100, profit: 0.1, observed: 0.5, missing: 0.5 },
    ]);
    // Of a range without length, or one that ends before it begins, there is none.
    for (const [from, to] of [
      [150, 150],
      [150, 60],
    ] as const) {
      const within = `from_at = '${time(from)}', to_at = '${time(to)}'`;
      expect(await data.ask(`SELECT market FROM arbitrage_windows(${within})`)).toEqual([]);
    }
  });
});

describe('the life of a market', () => {
  it('has when it opened, was priced, traded, closed and resolved', async () => {
    const trade = (id: string, seconds: number): Values => ({
      ...{ ...seen('', time(400), 'p'), trade_record_id: id, user_id: 'u', market: 'a', side: 'BUY', position: 'YES' },
      ...{ quantity: '1', price: '0.5', is_primary: true, executed_at: time(seconds) },
    });
    await data.insert('activity_records', [trade('t1', 33), trade('t2', 66)]);
    await data.insert('polls', [searchPoll(time(280))]);
    await data.insert('event_observations', [eventSeen('later', time(281))]);
    const at = (column: string) => `toUnixTimestamp(${column}) - 1767614400 AS ${column}_s`;
    const rows = await data.ask(
      `SELECT market, name, trades, final_chance,
         ${['opened_at', 'first_price_at', 'last_price_at', 'first_trade_at', 'last_trade_at', 'closes_at', 'closed_at', 'final_chance_at'].map(at).join(', ')}
       FROM market_lifetimes WHERE event = 'cup' ORDER BY market`,
    );
    expect(rows).toEqual([
      {
        ...{ market: 'a', name: 'team a', trades: 2, opened_at_s: -100, first_price_at_s: 0, last_price_at_s: 240 },
        ...{
          first_trade_at_s: 33,
          last_trade_at_s: 66,
          closes_at_s: 300,
          closed_at_s: 0,
          final_chance: 1,
          final_chance_at_s: 240,
        },
      },
      {
        ...{ market: 'b', name: 'team b', trades: 0, opened_at_s: -100, first_price_at_s: 10, last_price_at_s: 160 },
        ...{ first_trade_at_s: null, last_trade_at_s: null, closes_at_s: 300, closed_at_s: 0, final_chance: null },
        final_chance_at_s: null,
      },
    ]);
  });
});

describe('our chances beside the exchange’s candles', () => {
  it('compares each closing chance with the last live one before it', async () => {
    const point = (seconds: number, chance: number): Values => ({
      ...{ market: 'a', event: 'cup', chance, occurred_at: time(seconds), received_at: time(seconds + 0.1) },
      source: 'change',
    });
    await data.insert('chance_points', [point(10, 0.5), point(60, 0.6), point(130, 0.7)]);
    const close = (period: string, seconds: number, chance: number): Values => ({
      ...{
        market: 'a',
        event: 'cup',
        period,
        chance,
        occurred_at: time(seconds),
        received_at: time(350),
        source: 'rest',
      },
    });
    await data.insert('chance_history_points', [
      close('60', 0, 0.4),
      // The point at 60 is that of the next period.
      close('60', 60, 0.5),
      close('60', 120, 0.65),
      close('5M', 300, 0.7),
      // Raw history says that a chance of 0.8 at 310 was skipped; the session had ended at 300.
      { ...close('raw', 310, 0.8), occurred_at: time(310.5) },
      close('60', 360, 0.8),
      close('60', 420, 0.9),
      // Requested without a period: it may be no candle.
      { ...close('', 480, 0.9), source: 'stream' },
    ]);
    const rows = await data.ask(
      `SELECT period, ${since('ends_at')}, state, exchange_chance AS theirs, live_chance AS ours, round(difference, 6) AS difference
       FROM candle_audit(from_at = '2026-01-05 00:00', to_at = '2026-01-06 00:00') WHERE market = 'a' ORDER BY ends_at, period`,
    );
    expect(rows).toEqual([
      { period: '60', t: 0, state: 'unknown', theirs: 0.4, ours: null, difference: null },
      { period: '60', t: 60, state: 'equal', theirs: 0.5, ours: 0.5, difference: 0 },
      { period: '60', t: 120, state: 'different', theirs: 0.65, ours: 0.6, difference: -0.05 },
      { period: '5M', t: 300, state: 'equal', theirs: 0.7, ours: 0.7, difference: 0 },
      { period: '60', t: 360, state: 'skipped', theirs: 0.8, ours: 0.7, difference: -0.1 },
      { period: '60', t: 420, state: 'not observed', theirs: 0.9, ours: 0.7, difference: -0.2 },
    ]);
  });
});

describe('candles', () => {
  it('have one group of columns for the last price, and one for the mid of the books that have both sides', async () => {
    const rows = await data.ask(
      `SELECT ${since('begins_at')}, open, high, low, close, round(mid_open, 6) AS mid_open, round(mid_high, 6) AS mid_high,
         round(mid_low, 6) AS mid_low, round(mid_close, 6) AS mid_close, ticks
       FROM candles(period_seconds = 120) WHERE market = 'a' ORDER BY begins_at`,
    );
    expect(rows).toEqual([
      // The third tick has no bid.
      {
        ...{ t: 0, open: 0.5, high: 0.56, low: 0.5, close: 0.52, ticks: 3 },
        ...{ mid_open: 0.5, mid_high: 0.56, mid_low: 0.5, mid_close: 0.56 },
      },
      {
        ...{ t: 120, open: 0.6, high: 0.6, low: 0.6, close: 0.6, ticks: 1 },
        ...{ mid_open: 0.61, mid_high: 0.61, mid_low: 0.61, mid_close: 0.61 },
      },
    ]);
    const [none] = await data.ask(
      `SELECT mid_open, mid_high, mid_low, mid_close FROM candles(period_seconds = 10) WHERE market = 'a' AND begins_at = '${time(90).replace('T', ' ')}'`,
    );
    expect(none).toEqual({ mid_open: null, mid_high: null, mid_low: null, mid_close: null });
  });
});

describe('trades beside the quotes', () => {
  it('have the spread, and what the taker gained within 5 minutes', async () => {
    const trade = (id: string, market: string, seconds: number, price: string, fields: Values): Values => ({
      ...{ ...seen('', time(400), 'p'), trade_record_id: id, user_id: 'u', market, side: 'BUY', position: 'YES' },
      ...{ quantity: '10', price, is_primary: null, executed_at: time(seconds), ...fields },
    });
    await data.insert('activity_records', [
      trade('q1', 'b', 40.2, '0.51', {}),
      trade('q2', 'b', 100, '0.55', { position: 'NO' }),
      trade('q3', 'a', 100, '0.53', { side: 'SELL' }),
      trade('q4', 'b', 140, '0.5', {}),
    ]);
    const rows = await data.ask(
      `SELECT fill_id, direction, yes_price, round(mid, 6) AS mid, quote_age_seconds AS age, round(effective_spread, 6) AS spread,
         round(slippage, 6) AS slippage, round(markout_5s, 6) AS s5, round(markout_1m, 6) AS m1, round(markout_5m, 6) AS m5
       FROM trade_quotes(margin_ms = 250, scope = 'all') WHERE fill_id LIKE 'q%' ORDER BY fill_id`,
    );
    expect(rows).toEqual([
      // The tick at 40 came less than 250 ms before: the quote is that of 10, 0.49 and 0.51. 5 s later mid is 0.51, at 100.2 s 0.48.
      {
        ...{ fill_id: 'q1', direction: 1, yes_price: 0.51, mid: 0.5, age: 30.2, spread: 0.02, slippage: 0.01 },
        ...{ s5: 0, m1: -0.03, m5: null },
      },
      // NO bought at 0.55 is YES sold at 0.45, with mid at 0.48; at 160 the mid is 0.4.
      {
        ...{ fill_id: 'q2', direction: -1, yes_price: 0.45, mid: 0.48, age: 10, spread: 0.06, slippage: 0.03 },
        ...{ s5: -0.03, m1: 0.05, m5: null },
      },
      // The book of a has no bid; one minute later it has, 0.58 and 0.64.
      {
        ...{ fill_id: 'q3', direction: -1, yes_price: 0.53, mid: null, age: 10, spread: null, slippage: null },
        ...{ s5: null, m1: -0.08, m5: null },
      },
      // The order book was not observed at 140 nor at 145.
      {
        ...{ fill_id: 'q4', direction: 1, yes_price: 0.5, mid: null, age: 50, spread: null, slippage: null },
        ...{ s5: null, m1: -0.1, m5: null },
      },
    ]);
  });
});

describe('slippage of own fills', () => {
  it('is a cost above the mid of a purchase and below that of a sale, in prices of the traded asset', async () => {
    const side = (account: string, id: string, seconds: number, fields: Values): Values =>
      accountTrade(account, id, {
        ...{
          order_id: `order ${id}`,
          event: 'cup',
          market: 'b',
          asset: 'b yes',
          quantity: '10',
          price: '0.51',
          fee: '0.02',
        },
        ...{ executed_at: time(seconds), ...fields },
      });
    await data.insert('trade_records', [
      side('ann', 's1', 40.2, { trade_id: 'both' }),
      side('bob', 's2', 40.2, { trade_id: 'both', side: 'SELL', fee: '0' }),
      side('ann', 's3', 100, { asset: 'b no', price: '0.55', quantity: '4' }),
      side('ann', 's4', 100, { side: 'SELL', price: '0.5' }),
      side('ann', 's5', 140, {}),
      side('ann', 's6', 100, { asset: 'unknown' }),
    ]);
    const rows = await data.ask(
      `SELECT trade_record_id AS id, account, order_id, event, outcome, round(mid, 6) AS mid, quote_age_seconds AS age,
         round(slippage, 6) AS slippage, round(slippage_value, 6) AS cost
       FROM fill_slippage(margin_ms = 250) ORDER BY id`,
    );
    const ofFill = (id: string, account: string, outcome = 'YES') => ({
      id,
      account,
      order_id: `order ${id}`,
      event: 'cup',
      outcome,
    });
    expect(rows).toEqual([
      // The quote is 0.49 and 0.51: the buyer at 0.51 paid 0.01 beyond mid for each of 10 shares, which the seller gained.
      { ...ofFill('s1', 'ann'), mid: 0.5, age: 30.2, slippage: 0.01, cost: 0.1 },
      { ...ofFill('s2', 'bob'), mid: 0.5, age: 30.2, slippage: -0.01, cost: -0.1 },
      // Mid of YES is 0.48, so that of NO is 0.52: 0.55 - 0.52 = 0.03, for 4 shares.
      { ...ofFill('s3', 'ann', 'NO'), mid: 0.52, age: 10, slippage: 0.03, cost: 0.12 },
      // Sold at 0.50 with mid at 0.48: 0.02 better.
      { ...ofFill('s4', 'ann'), mid: 0.48, age: 10, slippage: -0.02, cost: -0.2 },
      // The order book was not observed at 140.
      { ...ofFill('s5', 'ann'), mid: null, age: 50, slippage: null, cost: null },
    ]);
  });
});

describe('a question about one market', () => {
  it.each([
    ["trade_quotes(margin_ms = 250, scope = 'own')", 'trade_records'],
    ["trade_quotes(margin_ms = 250, scope = 'all')", 'activity_records'],
    ['fill_slippage(margin_ms = 250)', 'trade_records'],
    ["price_impact(level = 'market', margin_ms = 250)", 'activity_records'],
  ])('reads the trades and ticks of that market alone: %s', async (source, table) => {
    const plan = await host.database.run(`EXPLAIN indexes = 1 SELECT * FROM ${source} WHERE market = 'b'`, 'reader');
    const read = plan.split('ReadFromMergeTree ').filter((part) => part.includes('Granules: '));
    /** Whether every part of the plan that reads a table uses its primary key with a condition on the market. */
    const byMarket = (name: string) =>
      read
        .filter((part) => part.startsWith(`(${host.database.name}.${name})`))
        .map((part) => /PrimaryKey\s+Keys:\s+market\s+Condition: .*market, .*in \[\\'b\\', \\'b\\'\]\)/.test(part));
    expect(byMarket('price_ticks')).toEqual([true]);
    expect(byMarket(table)).toContain(true);
  });
});

describe('price impact', () => {
  const TRADES = 36;
  /** A trade every 10 s from 400 s on: shares, signed by what the taker did to YES, and how mid changed with it. */
  const trades = Array.from({ length: TRADES }, (_, i) => {
    const size = (1 + (i % 5)) * (i % 3 === 0 ? -1 : 1) * 10;
    // 0.001 USDC per share, and an error without a trend.
    return { at: 400 + 10 * i, size, change: size * 0.001 + ((i * 7) % 4) * 0.002 - 0.003 };
  });

  beforeAll(async () => {
    const on = { stream: 'order-book', event: 'race', markets: ['r'], connection_id: 'r1' };
    await data.insert('event_observations', [
      eventSeen('race', time(300), { markets: ['r'], created_at: time(300) }),
      eventSeen('race', time(1000), { markets: ['r'], created_at: time(300) }),
    ]);
    await data.insert('collector_events', [
      collectorEvent('impact', 1, time(300), 'session-started'),
      collectorEvent('impact', 2, time(301), 'subscribed', on),
      collectorEvent('impact', 3, time(900), 'session-stopped', { cause: 'done' }),
    ]);
    const books = trades.flatMap(({ at, change }) => [
      { at: at - 3, mid: 0.5 },
      { at: at + 1, mid: 0.5 + change },
    ]);
    await data.insert(
      'price_ticks',
      books.map(({ at, mid }) => tick('r', time(at), 0.5, { event: 'race', bid: mid - 0.01, ask: mid + 0.01 })),
    );
    await data.insert('market_observations', [
      {
        market: 'r',
        event: 'race',
        name: 'r',
        received_at: time(300),
        poll_id: 'p',
        yes_asset: 'r yes',
        no_asset: 'r no',
      },
    ]);
    await data.insert(
      'activity_records',
      trades.map(({ at, size }, i) => ({
        ...{ ...seen('', time(900), 'p'), trade_record_id: `r${i}`, user_id: 'u', market: 'r', is_primary: null },
        // Every other one as NO, with the same direction in YES terms.
        ...(i % 2 === 0
          ? { position: 'YES', side: size > 0 ? 'BUY' : 'SELL', price: '0.5' }
          : { position: 'NO', side: size > 0 ? 'SELL' : 'BUY', price: '0.5' }),
        ...{ quantity: String(Math.abs(size)), executed_at: time(at) },
      })),
    );
  });

  it('is the slope of the change of mid over the signed size, by least squares', async () => {
    const rows = await data.ask<Record<string, number>>(
      `SELECT delay, event, trades, unquoted_trades AS unquoted, impact_per_share, standard_error, intercept, r_squared
       FROM price_impact(level = 'market', margin_ms = 250) WHERE market = 'r' ORDER BY delay`,
    );
    const mean = (of: (one: (typeof trades)[number]) => number) =>
      trades.reduce((total, one) => total + of(one), 0) / TRADES;
    const [x, y] = [mean(({ size }) => size), mean(({ change }) => change)];
    const sxx = mean(({ size }) => (size - x) ** 2);
    const syy = mean(({ change }) => (change - y) ** 2);
    const slope = mean(({ size, change }) => (size - x) * (change - y)) / sxx;
    expect(slope).toBeCloseTo(0.001, 4);
    const row = rows.find(({ delay }) => String(delay) === '5 s');
    expect(row).toMatchObject({ event: 'race', trades: TRADES, unquoted: 0 });
    expect(row?.['impact_per_share']).toBeCloseTo(slope, 9);
    expect(row?.['intercept']).toBeCloseTo(y - slope * x, 9);
    expect(row?.['r_squared']).toBeCloseTo((slope ** 2 * sxx) / syy, 9);
    const residuals = mean(({ size, change }) => (change - y - slope * (size - x)) ** 2) * TRADES;
    expect(row?.['standard_error']).toBeCloseTo(Math.sqrt(residuals / (TRADES - 2) / (sxx * TRADES)), 9);
    expect(rows.map(({ delay }) => String(delay))).toEqual(['1 min', '5 min', '5 s']);
  });

  it('is that of the event at level event, where it has one market, and of all markets at level all', async () => {
    const figures = 'delay, trades, unquoted_trades, impact_per_share, intercept, r_squared';
    const at = (level: string, where = '') =>
      data.ask<{ trades: number }>(
        `SELECT ${figures} FROM price_impact(level = '${level}', margin_ms = 250) ${where} ORDER BY delay`,
      );
    const ofMarket = await at('market', "WHERE market = 'r'");
    expect(ofMarket).toHaveLength(3);
    expect(await at('event', "WHERE event = 'race' AND market = ''")).toEqual(ofMarket);
    const [all, markets] = [await at('all', "WHERE event = '' AND market = ''"), await at('market')];
    const total = (rows: readonly { trades: number }[]) => rows.reduce((sum, { trades }) => sum + trades, 0);
    expect([all.length, total(all)]).toEqual([3, total(markets)]);
    expect(total(all)).toBeGreaterThan(total(ofMarket));
    await expect(at('markets')).rejects.toThrow('level is market, event or all');
    const ofScope = data.ask("SELECT * FROM trade_quotes(margin_ms = 250, scope = 'mine')");
    await expect(ofScope).rejects.toThrow('scope is own or all');
  });

  it('of fewer than 30 trades with quotes is unknown', async () => {
    const rows = await data.ask(
      `SELECT trades, unquoted_trades AS unquoted, impact_per_share, standard_error, intercept, r_squared
       FROM price_impact(level = 'market', margin_ms = 250) WHERE market = 'r' AND delay = '5 min'`,
    );
    const none = { impact_per_share: null, standard_error: null, intercept: null, r_squared: null };
    // The order book was observed until 900 s: 5 minutes after the first 21 trades, up to that at 600 s.
    expect(rows).toEqual([{ trades: 21, unquoted: 15, ...none }]);
  });
});
