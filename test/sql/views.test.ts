import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { ago, collectorEvent, eventSeen, searchPoll, tick, time, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

beforeAll(() => {
  data = new WarehouseData(host.database);
});

describe('candles', () => {
  beforeAll(async () => {
    await data.insert('price_ticks', [
      tick('c1', time(0), 0.5, { event: 'ec' }),
      tick('c1', time(10), 0.7, { event: 'ec' }),
      tick('c1', time(20), 0.4, { event: 'ec' }),
      tick('c1', time(59.999), 0.6, { event: 'ec', bid: null, ask: 0.65 }),
      tick('c1', time(60), 0.3, { event: 'ec' }),
      tick('c2', time(5), 0.9, { event: 'ec' }),
    ]);
    await data.insert('event_observations', [eventSeen('ec', time(0)), eventSeen('ec', time(120))]);
    await data.insert('collector_events', [
      collectorEvent('sc', 1, time(0), 'session-started'),
      collectorEvent('sc', 2, time(15), 'subscribed', {
        stream: 'order-book',
        connection_id: 'c',
        event: 'ec',
        markets: ['c1', 'c2'],
      }),
      collectorEvent('sc', 3, time(75), 'unsubscribed', {
        stream: 'order-book',
        connection_id: 'c',
        event: 'ec',
        cause: 'test',
      }),
      collectorEvent('sc', 4, time(100), 'session-stopped', { cause: 'clean shutdown' }),
    ]);
  });

  it('have open, high, low and close in the order of receipt, and the book at the end', async () => {
    const candles = await data.ask(
      `SELECT begins_at, open, high, low, close, bid, ask, ticks FROM candles(period_seconds = 60) WHERE market = 'c1' ORDER BY begins_at`,
    );
    expect(candles).toEqual([
      {
        begins_at: '2026-01-05 12:00:00.000000',
        open: 0.5,
        high: 0.7,
        low: 0.4,
        close: 0.6,
        bid: null,
        ask: 0.65,
        ticks: 4,
      },
      {
        begins_at: '2026-01-05 12:01:00.000000',
        open: 0.3,
        high: 0.3,
        low: 0.3,
        close: 0.3,
        bid: 0.29,
        ask: 0.31,
        ticks: 1,
      },
    ]);
  });

  it('have the fraction of the period that was observed', async () => {
    const candles = await data.ask(
      `SELECT market, round(observed, 6) AS observed, backfilled, round(missing, 6) AS missing
       FROM candles(period_seconds = 60) WHERE event = 'ec' ORDER BY market, begins_at`,
    );
    expect(candles).toEqual([
      { market: 'c1', observed: 0.75, backfilled: 0, missing: 0.25 },
      { market: 'c1', observed: 0.25, backfilled: 0, missing: 0.75 },
      { market: 'c2', observed: 0.75, backfilled: 0, missing: 0.25 },
    ]);
  });

  it('take any period, aligned to the epoch', async () => {
    const candles = await data.ask(
      `SELECT begins_at, ticks FROM candles(period_seconds = 7) WHERE market = 'c1' ORDER BY begins_at LIMIT 2`,
    );
    expect(candles).toEqual([
      { begins_at: '2026-01-05 11:59:54.000000', ticks: 1 },
      { begins_at: '2026-01-05 12:00:08.000000', ticks: 1 },
    ]);
  });

  it('order rows of the same receive time by the position of the record', async () => {
    await data.insert('price_ticks', [tick('tie', time(0), 0.1), tick('tie', time(0), 0.9), tick('tie', time(0), 0.5)]);
    expect(await data.ask(`SELECT open, close FROM candles(period_seconds = 60) WHERE market = 'tie'`)).toEqual([
      { open: 0.1, close: 0.5 },
    ]);
    // Written later, but older.
    await data.insert('price_ticks', [tick('tie', time(-1), 0.3)]);
    expect(await data.ask(`SELECT last FROM latest_prices WHERE market = 'tie'`)).toEqual([{ last: 0.5 }]);
  });
});

describe('a delta that repeats the one before it', () => {
  it('is in no candle, mover or spread, but in price_ticks', async () => {
    const at = (seconds: number) => ago(seconds, Math.floor(Date.now() / 60_000) * 60_000);
    const event = { event: 'e-repeated' };
    await data.insert('event_observations', [eventSeen('e-repeated', at(3700)), eventSeen('e-repeated', ago(1))]);
    await data.insert('collector_events', [
      collectorEvent('s-repeated', 1, at(3700), 'session-started'),
      collectorEvent('s-repeated', 2, at(3700), 'subscribed', {
        stream: 'order-book',
        connection_id: 'c',
        event: 'e-repeated',
        markets: ['r'],
      }),
      collectorEvent('s-repeated', 3, ago(0.5), 'heartbeat'),
    ]);
    const crossed = { ...event, bid: 0.9, ask: 0.2 };
    await data.insert('price_ticks', [
      tick('r', at(3600), 0.4, event),
      tick('r', at(3599), 0.4, { ...event, repeated: true }),
      tick('r', at(3540), 0.5, crossed),
      tick('r', at(3530), 0.5, { ...crossed, repeated: true }),
      tick('r', at(3400), 0.5, { ...crossed, repeated: true }),
    ]);
    expect(
      await data.ask(
        `SELECT open, close, ticks FROM candles(period_seconds = 60) WHERE market = 'r' ORDER BY begins_at`,
      ),
    ).toEqual([
      { open: 0.4, close: 0.4, ticks: 1 },
      { open: 0.5, close: 0.5, ticks: 1 },
    ]);
    expect(await data.ask(`SELECT ticks FROM movers(window_seconds = 86400) WHERE market = 'r'`)).toEqual([
      { ticks: 2 },
    ]);
    const spreads = `SELECT ticks, crossed_ticks FROM spread_stats(window_seconds = 86400) WHERE market = 'r'`;
    expect(await data.ask(spreads)).toEqual([{ ticks: 2, crossed_ticks: 1 }]);
    expect(
      await data.ask(`SELECT countIf(repeated = 1) AS repeated, count() AS all FROM price_ticks WHERE market = 'r'`),
    ).toEqual([{ repeated: 3, all: 5 }]);
  });
});

describe('views of prices', () => {
  it('show the latest price of every market', async () => {
    await data.insert('price_ticks', [
      tick('p1', time(0), 0.4),
      tick('p1', time(9), 0.5, { bid: 0.48, ask: 0.53 }),
      tick('p2', time(5), 0.2, { bid: null, ask: 0.25 }),
    ]);
    const rows = await data.ask(
      `SELECT market, last, bid, ask, mid, round(spread, 6) AS spread FROM latest_prices WHERE market IN ('p1', 'p2') ORDER BY market`,
    );
    expect(rows).toEqual([
      { market: 'p1', last: 0.5, bid: 0.48, ask: 0.53, mid: 0.505, spread: 0.05 },
      { market: 'p2', last: 0.2, bid: null, ask: 0.25, mid: null, spread: null },
    ]);
  });

  it('show a crossed book unchanged, without mid and spread', async () => {
    await data.insert('price_ticks', [
      tick('crossed', time(0), 0.5, { bid: 0.9, ask: 0.2 }),
      tick('touching', time(0), 0.5, { bid: 0.5, ask: 0.5 }),
    ]);
    const rows = await data.ask(
      `SELECT market, bid, ask, mid, spread, crossed FROM latest_prices WHERE market IN ('crossed', 'touching', 'p1', 'p2') ORDER BY market`,
    );
    expect(rows).toEqual([
      { market: 'crossed', bid: 0.9, ask: 0.2, mid: null, spread: null, crossed: true },
      { market: 'p1', bid: 0.48, ask: 0.53, mid: 0.505, spread: 0.53 - 0.48, crossed: false },
      { market: 'p2', bid: null, ask: 0.25, mid: null, spread: null, crossed: false },
      { market: 'touching', bid: 0.5, ask: 0.5, mid: 0.5, spread: 0, crossed: false },
    ]);
    expect(await data.ask('SELECT count() AS n FROM latest_prices WHERE spread < 0')).toEqual([{ n: 0 }]);
  });

  it('weight spreads by the time in which they were valid and observed', async () => {
    const on = { stream: 'order-book', connection_id: 'spread', event: 'event of s1', markets: ['s1'] };
    await data.insert('collector_events', [
      collectorEvent('ss', 1, ago(4100), 'session-started'),
      collectorEvent('ss', 2, ago(4100), 'subscribed', on),
      collectorEvent('ss', 3, ago(2000), 'unsubscribed', { ...on, cause: 'test' }),
      collectorEvent('ss', 4, ago(1500), 'subscribed', on),
      collectorEvent('ss', 5, ago(0), 'heartbeat'),
    ]);
    await data.insert('price_ticks', [
      tick('s1', ago(4000), 0.5, { bid: 0.4, ask: 0.6 }),
      tick('s1', ago(3000), 0.5, { bid: 0.49, ask: 0.51 }),
      tick('s1', ago(1000), 0.5, { bid: null, ask: 0.51 }),
      tick('never observed', ago(3000), 0.5),
    ]);
    const [row] = await data.ask(
      `SELECT ticks, average_spread, median_spread, max_spread, two_sided, seconds FROM spread_stats(window_seconds = 86400) WHERE market = 's1'`,
    );
    // 0.2 for 1000 s and 0.02 for 1500 of the 2000 s that it stood, for 500 s of them were not observed; then no bid.
    expect(row).toMatchObject({ ticks: 3 });
    expect(row?.['average_spread']).toBeCloseTo((0.2 * 1000 + 0.02 * 1500) / 2500, 3);
    expect(row?.['median_spread']).toBeCloseTo(0.02, 6);
    expect(row?.['max_spread']).toBeCloseTo(0.2, 6);
    expect(row?.['two_sided']).toBeCloseTo(2500 / 3500, 2);
    expect(row?.['seconds']).toBeCloseTo(3500, -1);

    // Until 1200 s ago: 0.2 for 1000 s, and 0.02 for 1000 s before the gap and 300 s after it.
    const [between] = await data.ask(
      `SELECT ticks, average_spread, two_sided, seconds FROM spread_stats_between(from_at = '${ago(4500)}', to_at = '${ago(1200)}') WHERE market = 's1'`,
    );
    expect(between).toMatchObject({ ticks: 2, two_sided: 1 });
    expect(between?.['average_spread']).toBeCloseTo((0.2 * 1000 + 0.02 * 1300) / 2300, 3);
    expect(between?.['seconds']).toBeCloseTo(2300, -1);

    const [never] = await data.ask(
      `SELECT ticks, average_spread, two_sided, seconds FROM spread_stats(window_seconds = 86400) WHERE market = 'never observed'`,
    );
    expect(never).toEqual({ ticks: 1, average_spread: null, two_sided: null, seconds: 0 });
  });

  it('exclude crossed books from spreads, and count them', async () => {
    const on = { stream: 'order-book', connection_id: 'crossed', event: 'event of x1', markets: ['x1', 'x2'] };
    await data.insert('collector_events', [
      collectorEvent('sx', 1, ago(4000), 'session-started'),
      collectorEvent('sx', 2, ago(4000), 'subscribed', on),
      collectorEvent('sx', 3, ago(0), 'heartbeat'),
    ]);
    await data.insert('price_ticks', [
      tick('x1', ago(4000), 0.5, { bid: 0.4, ask: 0.6 }),
      tick('x1', ago(3000), 0.5, { bid: 0.9, ask: 0.2 }),
      tick('x1', ago(2000), 0.5, { bid: null, ask: 0.6 }),
      tick('x1', ago(1000), 0.5, { bid: 0.5, ask: 0.5 }),
      tick('x2', ago(1000), 0.5, { event: 'event of x1', bid: 0.9, ask: 0.2 }),
    ]);
    const [some, all] = await data.ask(
      `SELECT ticks, crossed_ticks, average_spread, min_spread, max_spread, two_sided FROM spread_stats(window_seconds = 86400)
       WHERE market IN ('x1', 'x2') ORDER BY market`,
    );
    expect(some).toMatchObject({ ticks: 4, crossed_ticks: 1, min_spread: 0 });
    expect(some?.['average_spread']).toBeCloseTo(0.1, 3);
    expect(some?.['max_spread']).toBeCloseTo(0.2, 6);
    expect(some?.['two_sided']).toBeCloseTo(0.75, 3);
    const none = { average_spread: null, min_spread: null, max_spread: null };
    expect(all).toMatchObject({ ticks: 1, crossed_ticks: 1, ...none, two_sided: 1 });
  });

  it('show how far markets moved in a day', async () => {
    const day = 86_400;
    await data.insert('price_ticks', [
      tick('m1', ago(3 * day), 0.9),
      tick('m1', ago(day + 60), 0.3),
      tick('m1', ago(day - 60), 0.8),
      tick('m1', ago(60), 0.55),
      tick('m2', ago(500), 0.2),
      tick('m2', ago(400), 0.25),
      tick('m3', ago(2 * day), 0.5),
    ]);
    const rows = await data.ask(
      `SELECT market, price_before, price_now, round(change, 6) AS change, high, low, ticks FROM movers(window_seconds = 86400) WHERE market LIKE 'm%' ORDER BY market`,
    );
    expect(rows).toEqual([
      { market: 'm1', price_before: 0.3, price_now: 0.55, change: 0.25, high: 0.8, low: 0.55, ticks: 2 },
      { market: 'm2', price_before: 0.2, price_now: 0.25, change: 0.05, high: 0.25, low: 0.2, ticks: 2 },
    ]);
  });

  it('sum the asks and bids of an event whose every market has them', async () => {
    await data.insert('event_observations', [
      eventSeen('eo', ago(10), { markets: ['o1', 'o2'] }),
      eventSeen('eh', ago(10), { markets: ['h1', 'h2'] }),
      eventSeen('ea', ago(10), { markets: ['a1'] }),
      eventSeen('ex', ago(10), { markets: ['y1', 'y2'] }),
    ]);
    await data.insert('price_ticks', [
      tick('o1', ago(20), 0.4, { event: 'eo', bid: 0.375, ask: 0.5 }),
      tick('o2', ago(15), 0.6, { event: 'eo', bid: 0.5, ask: 0.625 }),
      tick('h1', ago(15), 0.6, { event: 'eh', bid: 0.5, ask: 0.625 }),
      tick('a1', ago(15), 0.5, { event: 'ea', bid: 0.5, ask: 0.625 }),
      tick('y1', ago(15), 0.5, { event: 'ex', bid: 0.375, ask: 0.5 }),
      tick('y2', ago(15), 0.5, { event: 'ex', bid: 0.9, ask: 0.2 }),
    ]);
    expect(
      await data.ask(
        `SELECT priced_markets, crossed_markets, sum_of_bids, sum_of_asks, overround, underround
         FROM event_overround WHERE event = 'ex'`,
      ),
    ).toEqual([
      {
        priced_markets: 2,
        crossed_markets: 1,
        sum_of_bids: null,
        sum_of_asks: null,
        overround: null,
        underround: null,
      },
    ]);
    // Of a single market, YES and NO are the outcomes: both cost ask + (1 - bid).
    expect(await data.ask("SELECT overround, underround FROM event_overround WHERE event = 'ea'")).toEqual([
      { overround: 0.125, underround: 0.125 },
    ]);
    const rows = await data.ask(
      `SELECT event, title, markets, priced_markets, crossed_markets, sum_of_last, overround, underround FROM event_overround WHERE event IN ('eo', 'eh') ORDER BY event`,
    );
    expect(rows).toEqual([
      {
        event: 'eh',
        title: 'title of eh',
        markets: 2,
        priced_markets: 1,
        crossed_markets: 0,
        sum_of_last: 0.6,
        overround: null,
        underround: null,
      },
      {
        event: 'eo',
        title: 'title of eo',
        markets: 2,
        priced_markets: 2,
        crossed_markets: 0,
        sum_of_last: 1,
        overround: 0.125,
        underround: 0.125,
      },
    ]);
  });
});

describe('views of reference data', () => {
  it('show every change and the current state, also after a reverted change', async () => {
    const seen = (seconds: number, title: string, total: number) =>
      eventSeen('er', time(seconds), { title, total_volume: total });
    await data.insert('event_observations', [
      seen(0, 'A', 1),
      seen(10, 'A', 2),
      seen(20, 'B', 3),
      seen(30, 'A', 4),
      seen(40, 'A', 5),
    ]);
    expect(
      await data.ask(
        `SELECT title, seen_at, previous_seen_at, first FROM event_changes WHERE event = 'er' ORDER BY seen_at`,
      ),
    ).toEqual([
      { title: 'A', seen_at: '2026-01-05 12:00:00.000000', previous_seen_at: null, first: true },
      {
        title: 'B',
        seen_at: '2026-01-05 12:00:20.000000',
        previous_seen_at: '2026-01-05 12:00:10.000000',
        first: false,
      },
      {
        title: 'A',
        seen_at: '2026-01-05 12:00:30.000000',
        previous_seen_at: '2026-01-05 12:00:20.000000',
        first: false,
      },
    ]);
    expect(
      await data.ask(`SELECT title, total_volume, first_seen_at, last_seen_at FROM events WHERE event = 'er'`),
    ).toEqual([
      {
        title: 'A',
        total_volume: 5,
        first_seen_at: '2026-01-05 12:00:00.000000',
        last_seen_at: '2026-01-05 12:00:40.000000',
      },
    ]);
  });

  it('have states that do not change by repetition', async () => {
    const rows = [
      eventSeen('twice', time(0), { title: 'old', _offset: 900_001 }),
      eventSeen('twice', time(5), { title: 'new', _offset: 900_002 }),
    ];
    await data.insert('event_observations', rows);
    const before = await data.ask(`SELECT * FROM events WHERE event = 'twice'`);
    // A batch that is sent again runs the materialized views again.
    await data.insert('event_observations', rows);
    expect(await data.ask(`SELECT * FROM events WHERE event = 'twice'`)).toEqual(before);
  });

  it('show changes of coins and tags', async () => {
    const coin = (seconds: number, rate: number) => ({
      coin: 'k',
      received_at: time(seconds),
      poll_id: 'p',
      usd_rate: rate,
      usd_rate_at: time(seconds),
    });
    await data.insert('coin_observations', [coin(0, 1), coin(10, 1), coin(20, 0.99)]);
    expect(await data.ask(`SELECT usd_rate FROM coin_changes WHERE coin = 'k' ORDER BY seen_at`)).toEqual([
      { usd_rate: 1 },
      { usd_rate: 0.99 },
    ]);
    expect(await data.ask(`SELECT usd_rate FROM coins WHERE coin = 'k'`)).toEqual([{ usd_rate: 0.99 }]);
    const seen = (seconds: number, rank: number) => ({
      tag: 't',
      received_at: time(seconds),
      poll_id: 'p',
      popularity_rank: rank,
    });
    await data.insert('tag_observations', [seen(0, 3), seen(1, 3), seen(2, 1)]);
    expect(await data.ask(`SELECT popularity_rank, first FROM tag_changes WHERE tag = 't' ORDER BY seen_at`)).toEqual([
      { popularity_rank: 3, first: true },
      { popularity_rank: 1, first: false },
    ]);
  });

  it('split a market into its assets', async () => {
    await data.insert('market_observations', [
      { market: 'ma', event: 'ea', received_at: time(0), poll_id: 'p', yes_asset: 'y', no_asset: null, yes_price: 0.4 },
    ]);
    expect(await data.ask(`SELECT asset, outcome, price FROM assets WHERE market = 'ma'`)).toEqual([
      { asset: 'y', outcome: 'YES', price: 0.4 },
    ]);
  });
});

describe('pipeline_lag', () => {
  it('shows the delay of records and the age of the newest', async () => {
    const record = (seconds: number, took: number) => ({
      _topic: 'chancery.test',
      received_at: ago(seconds),
      written_at: ago(seconds - took),
      session_id: 's',
      sequence: 1,
      kind: 'k',
      encoding: 'json',
      piece: 0,
      pieces: 1,
      body_bytes: 0,
      body_expires_at: '2030-01-01 00:00:00',
      request: '',
      body: '',
    });
    await data.insert('raw_records', [record(30, 2), record(20, 1), record(10, 3), record(9000, 1)]);
    const [row] = await data.ask(`SELECT * FROM pipeline_lag WHERE topic = 'chancery.test'`);
    expect(row).toMatchObject({ records: 3, partition: 0 });
    expect(row?.['delay_p50_seconds']).toBeCloseTo(2, 1);
    expect(row?.['delay_max_seconds']).toBeCloseTo(3, 1);
    expect(row?.['age_seconds']).toBeGreaterThan(9.9);
    expect(row?.['age_seconds']).toBeLessThan(60);
  });
});

describe('undelivered', () => {
  it('counts records that collectors reported on the bus a minute ago and that are not in ClickHouse', async () => {
    const alive = (seconds: number, acknowledged: Record<string, number>) =>
      collectorEvent('behind', 3000 - seconds, ago(seconds), 'heartbeat', { acknowledged });
    const record = (n: number, seconds: number, fields = {}) => ({
      ...{
        _topic: 'chancery.order-book',
        received_at: ago(seconds),
        session_id: 'behind',
        sequence: n,
        kind: 'order-book.frame',
      },
      ...{ encoding: 'json', piece: 0, pieces: 1, body_bytes: 0, body_expires_at: '2030-01-01 00:00:00' },
      ...{ request: '', body: '', ...fields },
    });
    await data.insert('collector_events', [
      alive(2000, { 'chancery.order-book': 0 }),
      alive(600, { 'chancery.order-book': 10, 'chancery.chance': 4 }),
      alive(300, { 'chancery.order-book': 16, 'chancery.chance': 4 }),
      alive(120, { 'chancery.order-book': 20, 'chancery.chance': 5 }),
      alive(5, { 'chancery.order-book': 99, 'chancery.chance': 99 }),
    ]);
    // 14, 15 and 16 are missing; 12 came in two pieces; 98 is from this minute.
    await data.insert('raw_records', [
      ...[10, 11, 13, 17, 18, 19, 20].map((n) => record(n, 400)),
      ...[0, 1].map((piece) => record(12, 400, { piece, pieces: 2 })),
      record(98, 5),
      record(5, 200, { _topic: 'chancery.chance' }),
    ]);
    const late = await data.ask('SELECT topic, appended, records FROM undelivered ORDER BY topic');
    expect(late).toEqual([
      { topic: 'chancery.chance', appended: 1, records: 0 },
      { topic: 'chancery.order-book', appended: 10, records: 3 },
    ]);
  });
});

describe('freshness', () => {
  /** Around one moment: by then, everything has been inserted. */
  const now = Date.now();
  const BOOK = 'chancery.order-book';
  const CHANCE = 'chancery.chance';

  const beat = (
    session: string,
    seconds: number,
    acknowledged: Record<string, number>,
    silent: Record<string, number>,
  ) =>
    collectorEvent(session, 9000 - seconds, ago(seconds, now), 'heartbeat', {
      acknowledged,
      last_frames: Object.fromEntries(
        Object.entries(silent).map(([id, s]) => [id, (now - (seconds + s) * 1000) * 1000]),
      ),
    });
  const started = (session: string, collector: string) =>
    collectorEvent(session, 1, ago(3000, now), 'session-started', { collector });
  const connected = (session: string, sequence: number, stream: string, connection_id: string) =>
    collectorEvent(session, sequence, ago(2990, now), 'connected', { stream, connection_id });
  const records = (session: string, topic: string, numbers: readonly number[], seconds: number) =>
    numbers.map((sequence) => ({
      ...{ _topic: topic, session_id: session, sequence, kind: 'k', pieces: 1 },
      ...{ received_at: ago(seconds, now), written_at: ago(seconds - 2, now) },
    }));
  const numbered = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
  /** The age of each hop of a topic now, less the time since `now`. */
  const hopsOf = async (collector: string, topic: string) => {
    const rows = await data.ask(
      `SELECT hop, age_seconds, delay_p50_seconds, now64(6) AS moment FROM freshness
       WHERE collector = '${collector}' AND topic = '${topic}' ORDER BY hop = 'bus to row', hop DESC`,
    );
    const since = (moment: unknown) => (Date.parse(`${moment}Z`) - now) / 1000;
    return rows.map(({ hop, age_seconds: age, delay_p50_seconds: delay, moment }) => [
      hop,
      age === null ? null : Math.round(Number(age) - since(moment)),
      delay,
    ]);
  };

  it('shows which hop is behind: a silent connection, or rows that a worker has not written', async () => {
    await data.insert('collector_events', [
      started('fresh', 'behind'),
      connected('fresh', 2, 'order-book', 'b1'),
      connected('fresh', 3, 'order-book', 'b2'),
      connected('fresh', 4, 'chance', 'c1'),
      beat('fresh', 200, { [BOOK]: 10, [CHANCE]: 10 }, { b1: 0, b2: 0, c1: 0 }),
      beat('fresh', 100, { [BOOK]: 20, [CHANCE]: 20 }, { b1: 0, b2: 0, c1: 0 }),
      beat('fresh', 3, { [BOOK]: 30, [CHANCE]: 30 }, { b1: 1, b2: 47, c1: 1 }),
    ]);
    // Record 25 of the chance topic is missing, and those after 20 of the order book's partition.
    await data.insert('raw_records', [
      ...records('fresh', BOOK, numbered(11, 20), 110),
      ...records('fresh', CHANCE, [...numbered(11, 24), ...numbered(26, 30)], 50),
    ]);
    const change = { event: 'e', market: 'fresh', chance: 0.5, source: 'change' };
    await data.insert('chance_points', [
      { ...change, received_at: ago(10, now), occurred_at: ago(11, now) },
      { ...change, received_at: ago(9, now), occurred_at: ago(10, now) },
      { ...change, received_at: ago(8, now), occurred_at: ago(60, now), source: 'last-known' },
    ]);
    expect(await hopsOf('behind', BOOK)).toEqual([
      ['exchange to collector', 50, null],
      ['collector to bus', 3, null],
      ['bus to row', 100, 2],
    ]);
    expect(await hopsOf('behind', CHANCE)).toEqual([
      ['exchange to collector', 4, 1],
      ['collector to bus', 3, null],
      ['bus to row', 100, 2],
    ]);
    await data.insert('raw_records', [
      ...records('fresh', BOOK, numbered(21, 30), 50),
      ...records('fresh', CHANCE, [25], 50),
    ]);
    expect((await hopsOf('behind', BOOK))[2]).toEqual(['bus to row', 3, 2]);
    expect((await hopsOf('behind', CHANCE))[2]).toEqual(['bus to row', 3, 2]);
  });

  it('goes by the last frame after a disconnect, and ends with the session', async () => {
    await data.insert('collector_events', [
      started('lost', 'alone'),
      connected('lost', 2, 'order-book', 'l1'),
      collectorEvent('lost', 3, ago(400, now), 'disconnected', { stream: 'order-book', connection_id: 'l1' }),
      beat('lost', 390, { [BOOK]: 10 }, {}),
    ]);
    expect(await hopsOf('alone', BOOK)).toEqual([
      ['exchange to collector', 400, null],
      ['collector to bus', 390, null],
      ['bus to row', null, null],
    ]);
    await data.insert('collector_events', [collectorEvent('lost', 9999, ago(380, now), 'session-stopped')]);
    expect(await hopsOf('alone', BOOK)).toEqual([]);
  });
});

describe('an event', () => {
  /** Times around one moment: inserting rows takes its time. */
  const from = (now: number) => (secondsAgo: number) => ago(secondsAgo, now);

  it('is open while the latest complete poll of event search lists it', async () => {
    await data.insert('event_observations', [eventSeen('gone', time(0)), eventSeen('here', ago(5))]);
    await data.insert('polls', [searchPoll(ago(20)), { ...searchPoll(ago(1)), outcome: 'failed' }]);
    expect(await data.ask(`SELECT event, open FROM events WHERE event IN ('gone', 'here') ORDER BY event`)).toEqual([
      { event: 'gone', open: false },
      { event: 'here', open: true },
    ]);
  });

  it('stays open while the receipt of a poll has arrived before its pages, and closes when a poll is empty', async () => {
    const at = from(Date.now());
    const open = async () => data.ask("SELECT open FROM events WHERE event = 'waiting'");
    await data.insert('event_observations', [eventSeen('waiting', at(0.5))]);
    await data.insert('polls', [searchPoll(at(0.8)), searchPoll(at(-5))]);
    expect(await open()).toEqual([{ open: true }]);
    await data.insert('polls', [{ ...searchPoll(at(-6)), received_items: 0 }]);
    expect(await open()).toEqual([{ open: false }]);
  });

  it('stays open while pages of a poll are missing, and closes when a later page shows that no more will arrive', async () => {
    const at = from(Date.now());
    const open = async () => data.ask("SELECT event FROM events WHERE event LIKE 'page %' AND open ORDER BY event");
    const poll = (startedAt: number, distinct_items: number) => ({
      ...searchPoll(at(startedAt)),
      finished_at: at(startedAt - 5),
      distinct_items,
    });
    await data.insert('event_observations', [eventSeen('page 1', at(-110)), eventSeen('page 2', at(-111))]);
    await data.insert('polls', [poll(-109, 2)]);
    expect(await open()).toEqual([{ event: 'page 1' }, { event: 'page 2' }]);
    await data.insert('polls', [poll(-119, 2)]);
    await data.insert('event_observations', [eventSeen('page 1', at(-120))]);
    expect(await open()).toEqual([{ event: 'page 1' }, { event: 'page 2' }]);
    await data.insert('event_observations', [eventSeen('page 3', at(-121))]);
    expect(await open()).toEqual([{ event: 'page 1' }, { event: 'page 3' }]);
    // One of the three that it found became a dead letter.
    await data.insert('polls', [poll(-129, 3)]);
    await data.insert('event_observations', [eventSeen('page 1', at(-130)), eventSeen('page 2', at(-131))]);
    expect(await open()).toEqual([{ event: 'page 1' }, { event: 'page 2' }, { event: 'page 3' }]);
    await data.insert('event_observations', [eventSeen('page 1', at(-140))]);
    expect(await open()).toEqual([{ event: 'page 1' }, { event: 'page 2' }]);
  });
});
