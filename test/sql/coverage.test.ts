import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { ago, collectorEvent, eventSeen, searchPoll, time, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

beforeAll(() => {
  data = new WarehouseData(host.database);
});

const on = (event: string, connection = 'c1', stream = 'order-book') => ({ stream, connection_id: connection, event });

function ranges(event: string): Promise<Record<string, unknown>[]> {
  return data.ask(
    `SELECT dateDiff('millisecond', toDateTime64('2026-01-05 12:00:00', 6, 'UTC'), begins_at) / 1000 AS b,
       dateDiff('millisecond', toDateTime64('2026-01-05 12:00:00', 6, 'UTC'), ends_at) / 1000 AS e, state, cause
     FROM coverage WHERE event = '${event}' ORDER BY begins_at`,
  );
}

describe('coverage', () => {
  it('ends when the subscription, the connection or the session does', async () => {
    await data.insert('collector_events', [
      collectorEvent('s1', 1, time(0), 'session-started', { collector: 'a', version: '1', shard: '0/1' }),
      collectorEvent('s1', 2, time(1), 'subscribed', { ...on('unsubscribed'), markets: ['m'] }),
      collectorEvent('s1', 3, time(1), 'subscribed', { ...on('lost'), markets: ['m'] }),
      collectorEvent('s1', 4, time(5), 'unsubscribed', { ...on('unsubscribed'), cause: 'the event closed' }),
      collectorEvent('s1', 5, time(7), 'disconnected', { stream: 'order-book', connection_id: 'c1', cause: 'reset' }),
      collectorEvent('s1', 6, time(9), 'subscribed', { ...on('lost', 'c2'), markets: ['m'] }),
      collectorEvent('s1', 7, time(20), 'session-stopped', { cause: 'asked to' }),
    ]);
    expect(await ranges('unsubscribed')).toEqual([
      { b: 1, e: 5, state: 'ended', cause: 'unsubscribed: the event closed' },
    ]);
    expect(await ranges('lost')).toEqual([
      { b: 1, e: 7, state: 'ended', cause: 'disconnected: reset' },
      { b: 9, e: 20, state: 'ended', cause: 'the collector stopped: asked to' },
    ]);
  });

  it('of a dead collector ends at its last heartbeat, whatever it said afterwards', async () => {
    await data.insert('collector_events', [
      collectorEvent('s2', 1, time(0), 'session-started'),
      collectorEvent('s2', 2, time(1), 'subscribed', { ...on('dead', 'd1'), markets: ['m'] }),
      collectorEvent('s2', 3, time(2), 'heartbeat'),
      collectorEvent('s2', 4, time(3), 'heartbeat'),
      collectorEvent('s2', 5, time(3.5), 'disconnected', { stream: 'order-book', connection_id: 'd1', cause: 'reset' }),
    ]);
    expect(await ranges('dead')).toEqual([
      { b: 1, e: 3, state: 'ended', cause: 'no further heartbeat of the collector' },
    ]);
    expect(await data.ask(`SELECT state FROM sessions WHERE session_id = 's2'`)).toEqual([{ state: 'died' }]);
  });

  it('of a frozen subscription ends at its last verification, and begins again when it is subscribed anew', async () => {
    await data.insert('collector_events', [
      collectorEvent('s3', 1, time(0), 'session-started'),
      collectorEvent('s3', 2, time(1), 'subscribed', { ...on('stale', 'f1'), markets: ['m'] }),
      collectorEvent('s3', 3, time(30), 'stale', {
        ...on('stale', 'f1'),
        last_verified_at: time(12),
        cause: 'the probe differs',
      }),
      collectorEvent('s3', 4, time(31), 'subscribed', { ...on('stale', 'f1'), markets: ['m'] }),
      collectorEvent('s3', 5, time(40), 'session-stopped'),
    ]);
    expect(await ranges('stale')).toEqual([
      { b: 1, e: 12, state: 'ended', cause: 'stale: the probe differs' },
      { b: 31, e: 40, state: 'ended', cause: 'the collector stopped: ' },
    ]);
  });

  it('is not broken by silence that a probe found to be quiet, nor by more markets', async () => {
    await data.insert('collector_events', [
      collectorEvent('s4', 1, time(0), 'session-started'),
      collectorEvent('s4', 2, time(1), 'subscribed', { ...on('verified', 'q1'), markets: ['m'] }),
      collectorEvent('s4', 3, time(20), 'verified', on('verified', 'q1')),
      collectorEvent('s4', 4, time(25), 'subscribed', { ...on('verified', 'q1'), markets: ['m', 'n'] }),
      collectorEvent('s4', 5, time(40), 'session-stopped'),
    ]);
    expect(
      await data.ask(
        `SELECT count() AS ranges, min(begins_at) AS b, max(ends_at) AS e FROM observed_ranges WHERE event = 'verified'`,
      ),
    ).toEqual([{ ranges: 1, b: '2026-01-05 12:00:01.000000', e: '2026-01-05 12:00:40.000000' }]);
  });

  it('is live while its collector gives heartbeats', async () => {
    await data.insert('collector_events', [
      collectorEvent('s5', 1, ago(60), 'session-started'),
      collectorEvent('s5', 2, ago(50), 'subscribed', { ...on('live', 'l1'), markets: ['m'] }),
      collectorEvent('s5', 3, ago(0.5), 'heartbeat'),
    ]);
    expect(await data.ask(`SELECT state, cause FROM coverage WHERE event = 'live'`)).toEqual([
      { state: 'live', cause: '' },
    ]);
    expect(await data.ask(`SELECT state FROM sessions WHERE session_id = 's5'`)).toEqual([{ state: 'live' }]);
  });

  it('of several collectors is joined where it overlaps', async () => {
    const session = (sessionId: string, from: number, to: number) => [
      collectorEvent(sessionId, 1, time(from), 'session-started'),
      collectorEvent(sessionId, 2, time(from), 'subscribed', { ...on('both', `${sessionId} 1`), markets: ['m'] }),
      collectorEvent(sessionId, 3, time(to), 'session-stopped', { cause: sessionId }),
    ];
    await data.insert('collector_events', [
      ...session('a', 0, 10),
      ...session('b', 5, 20),
      ...session('c', 6, 7),
      ...session('d', 30, 40),
    ]);
    expect(
      await data.ask(
        `SELECT toUnixTimestamp(begins_at) % 60 AS b, toUnixTimestamp(ends_at) % 60 AS e, cause FROM observed_ranges WHERE event = 'both' ORDER BY b`,
      ),
    ).toEqual([
      { b: 0, e: 20, cause: 'the collector stopped: b' },
      { b: 30, e: 40, cause: 'the collector stopped: d' },
    ]);
  });
});

describe('gaps', () => {
  beforeAll(async () => {
    // Seen from 0 to 100, watched 10 to 40 and 60 to 100 on both streams; a later poll shows it no more.
    await data.insert('event_observations', [
      eventSeen('eg', time(0), { markets: ['g1', 'g2'] }),
      eventSeen('eg', time(100), { markets: ['g1', 'g2'] }),
      eventSeen('other', ago(5)),
    ]);
    await data.insert('polls', [searchPoll(ago(10))]);
    const streams = ['order-book', 'chance'];
    await data.insert('collector_events', [
      collectorEvent('g', 1, time(5), 'session-started'),
      ...streams.map((stream, i) =>
        collectorEvent('g', 2 + i, time(10), 'subscribed', {
          ...on('eg', `x ${stream}`, stream),
          markets: ['g1', 'g2'],
        }),
      ),
      ...streams.map((stream, i) =>
        collectorEvent('g', 4 + i, time(40), 'disconnected', { stream, connection_id: `x ${stream}`, cause: 'reset' }),
      ),
      ...streams.map((stream, i) =>
        collectorEvent('g', 6 + i, time(60), 'subscribed', {
          ...on('eg', `y ${stream}`, stream),
          markets: ['g1', 'g2'],
        }),
      ),
      // History of one market covers the whole gap, that of the other one half of it.
      collectorEvent('g', 8, time(70), 'backfilled', {
        stream: 'chance',
        event: 'eg',
        market: 'g1',
        range_from: time(-100),
        range_to: time(65),
      }),
      collectorEvent('g', 9, time(70), 'backfilled', {
        stream: 'chance',
        event: 'eg',
        market: 'g2',
        range_from: time(45),
        range_to: time(55),
      }),
      collectorEvent('g', 10, time(200), 'session-stopped', { cause: 'done' }),
    ]);
  });

  it('are the times between coverage while the event was open, with what history repaired', async () => {
    const gaps = await data.ask(
      `SELECT stream, toUnixTimestamp(begins_at) % 3600 AS b, seconds, cause, backfill, backfilled_seconds, missing_seconds
       FROM gaps WHERE event = 'eg' ORDER BY stream, begins_at`,
    );
    expect(gaps).toEqual([
      {
        stream: 'chance',
        b: 0,
        seconds: 10,
        cause: 'not yet subscribed',
        backfill: 'history',
        backfilled_seconds: 5,
        missing_seconds: 5,
      },
      {
        stream: 'chance',
        b: 40,
        seconds: 20,
        cause: 'disconnected: reset',
        backfill: 'history',
        backfilled_seconds: 15,
        missing_seconds: 5,
      },
      {
        stream: 'order-book',
        b: 0,
        seconds: 10,
        cause: 'not yet subscribed',
        backfill: 'none',
        backfilled_seconds: 0,
        missing_seconds: 10,
      },
      {
        stream: 'order-book',
        b: 40,
        seconds: 20,
        cause: 'disconnected: reset',
        backfill: 'none',
        backfilled_seconds: 0,
        missing_seconds: 20,
      },
    ]);
  });

  it('add up to the coverage of the event', async () => {
    const rows = await data.ask(
      `SELECT stream, title, open, live, open_seconds, gaps, gap_seconds, backfilled_seconds, observed, backfilled, missing
       FROM coverage_by_event WHERE event = 'eg' ORDER BY stream`,
    );
    const both = {
      title: 'title of eg',
      open: false,
      live: false,
      open_seconds: 100,
      gaps: 2,
      gap_seconds: 30,
      observed: 0.7,
    };
    expect(rows).toEqual([
      { stream: 'chance', ...both, backfilled_seconds: 20, backfilled: 0.2, missing: 0.1 },
      { stream: 'order-book', ...both, backfilled_seconds: 0, backfilled: 0, missing: 0.3 },
    ]);
  });

  it('last while an open event is watched by nobody, and not while it is watched', async () => {
    await data.insert('event_observations', [
      eventSeen('unwatched', ago(100)),
      eventSeen('unwatched', ago(1)),
      eventSeen('watched', ago(1)),
    ]);
    await data.insert('collector_events', [
      collectorEvent('w', 1, ago(60), 'session-started'),
      collectorEvent('w', 2, ago(50), 'subscribed', { ...on('watched', 'w1'), markets: ['m'] }),
      collectorEvent('w', 3, ago(0.5), 'heartbeat'),
    ]);
    const gaps = await data.ask(
      `SELECT event, round(seconds / 20) AS about, cause FROM gaps WHERE event IN ('unwatched', 'watched') AND stream = 'order-book'`,
    );
    expect(gaps).toEqual([{ event: 'unwatched', about: 5, cause: 'not yet subscribed' }]);
    const [watched] = await data.ask(
      `SELECT observed, live, open FROM coverage_by_event WHERE event = 'watched' AND stream = 'order-book'`,
    );
    expect(watched).toEqual({ observed: 1, live: true, open: true });
  });
});

describe('chance', () => {
  beforeAll(async () => {
    const point = (seconds: number, chance: number, received: number, source = 'change') => ({
      market: 'k1',
      event: 'ek',
      occurred_at: time(seconds),
      received_at: time(received),
      chance,
      source,
    });
    await data.insert('chance_points', [
      point(-500, 0.1, 0.1, 'last-known'),
      point(5, 0.2, 5.1),
      point(5, 0.9, 5.2),
      point(5, 0.3, 5.3),
      point(90, 0.6, 120.1, 'last-known'),
      point(130, 0.7, 130.1),
      point(131, 0.55, 131.1, 'aggregate'),
    ]);
    const history = (seconds: number, chance: number) => ({
      market: 'k1',
      event: 'ek',
      period: '1s',
      occurred_at: time(seconds),
      received_at: time(150),
      chance,
      source: 'rest',
    });
    // Watched 0 to 60 and 120 to 180: the first two points are covered, the last two fill the gap.
    await data.insert('chance_history_points', [
      history(6, 0.99),
      history(60, 0.01),
      history(70, 0.8),
      history(120, 0.45),
    ]);
    await data.insert('collector_events', [
      collectorEvent('k', 1, time(0), 'session-started'),
      collectorEvent('k', 2, time(0), 'subscribed', { ...on('ek', 'k1', 'chance'), markets: ['k1'] }),
      collectorEvent('k', 3, time(60), 'disconnected', { stream: 'chance', connection_id: 'k1', cause: 'reset' }),
      collectorEvent('k', 4, time(120), 'subscribed', { ...on('ek', 'k2', 'chance'), markets: ['k1'] }),
      collectorEvent('k', 5, time(150), 'backfilled', {
        stream: 'chance',
        event: 'ek',
        market: 'k1',
        range_from: time(30),
        range_to: time(90),
      }),
      collectorEvent('k', 6, time(180), 'session-stopped', { cause: 'done' }),
    ]);
  });

  it('is what was seen live, and in the gaps what history says', async () => {
    const series = await data.ask(
      `SELECT round(toUnixTimestamp64Micro(occurred_at) / 1e6 - 1767614400, 6) AS at, chance, source FROM chance_series WHERE market = 'k1' ORDER BY occurred_at, received_at, log_position`,
    );
    expect(series).toEqual([
      { at: -500, chance: 0.1, source: 'last-known' },
      { at: 5, chance: 0.2, source: 'live' },
      { at: 5, chance: 0.9, source: 'live' },
      { at: 5, chance: 0.3, source: 'live' },
      { at: 69.999999, chance: 0.8, source: 'history' },
      { at: 90, chance: 0.6, source: 'last-known' },
      { at: 119.999999, chance: 0.45, source: 'history' },
      { at: 130, chance: 0.7, source: 'live' },
    ]);
  });

  it('has candles with what was observed, repaired and missed', async () => {
    const candles = await data.ask(
      `SELECT toUnixTimestamp(begins_at) - 1767614400 AS b, open, high, low, close, points, round(observed, 6) AS observed,
         round(backfilled, 6) AS backfilled, round(missing, 6) AS missing
       FROM chance_candles(period_seconds = 60) WHERE market = 'k1' AND begins_at >= '2026-01-05 12:00:00' ORDER BY begins_at`,
    );
    expect(candles).toEqual([
      { b: 0, open: 0.2, high: 0.9, low: 0.2, close: 0.3, points: 3, observed: 1, backfilled: 0, missing: 0 },
      { b: 60, open: 0.8, high: 0.8, low: 0.45, close: 0.45, points: 2, observed: 0, backfilled: 0.5, missing: 0.5 },
      { b: 120, open: 0.7, high: 0.7, low: 0.7, close: 0.7, points: 1, observed: 1, backfilled: 0, missing: 0 },
    ]);
  });

  it('keeps of two answers about the same point the later one', async () => {
    const point = (received: number, chance: number) => ({
      market: 'twice',
      event: 'e',
      period: '1H',
      occurred_at: time(0),
      received_at: time(received),
      chance,
      source: 'rest',
    });
    await data.insert('chance_history_points', [point(20, 0.7), point(10, 0.5)]);
    expect(await data.ask(`SELECT chance FROM chance_history_points FINAL WHERE market = 'twice'`)).toEqual([
      { chance: 0.7 },
    ]);
  });
});
