import { beforeAll, describe, expect, it } from 'vitest';
import { partitionOf } from '../../bus/index.js';
import { DIVERGED, FRAME_TOO_LARGE, RECORD_KINDS, STREAM_KINDS, STREAM_NAMES } from '../../core/index.js';
import { useDatabase } from '../support/database.js';
import { ago, collectorEvent, eventSeen, searchPoll, time, type Values, WarehouseData } from './warehouse-data.js';

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
     FROM coverage WHERE event = '${event}' ORDER BY begins_at, ends_at`,
  );
}

/** A row of `lost_ranges` for the partition of a key. */
function lost(topic: string, key: string, from: string | null, to: string, cause: string): Values {
  const partitions = 1009;
  const range = { first_offset: 1, last_offset: 2, partitions, begins_at: from, ends_at: to, cause };
  return { _topic: topic, _partition: partitionOf(key, partitions), ...range };
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
      collectorEvent('s1', 7, time(20), 'session-stopped', { cause: 'clean shutdown' }),
    ]);
    expect(await ranges('unsubscribed')).toEqual([
      { b: 1, e: 5, state: 'ended', cause: 'unsubscribed: the event closed' },
    ]);
    expect(await ranges('lost')).toEqual([
      { b: 1, e: 7, state: 'ended', cause: 'disconnected: reset' },
      { b: 9, e: 20, state: 'ended', cause: 'the collector stopped: clean shutdown' },
    ]);
  });

  it('ends with the cause `frame too large` when a frame above the maximum size has ended the connection', async () => {
    const lost = { stream: 'order-book', connection_id: 'large', cause: FRAME_TOO_LARGE };
    await data.insert('collector_events', [
      collectorEvent('s-large', 1, time(0), 'session-started'),
      collectorEvent('s-large', 2, time(1), 'subscribed', { ...on('large', 'large'), markets: ['m'] }),
      collectorEvent('s-large', 3, time(7), 'disconnected', lost),
      collectorEvent('s-large', 4, time(9), 'subscribed', { ...on('large', 'c2'), markets: ['m'] }),
      collectorEvent('s-large', 5, time(20), 'session-stopped', { cause: 'clean shutdown' }),
    ]);
    expect(await ranges('large')).toMatchObject([{ b: 1, e: 7, cause: FRAME_TOO_LARGE }, { b: 9 }]);
    const gaps = `SELECT dateDiff('second', begins_at, ends_at) AS seconds, cause FROM gaps WHERE event = 'large'`;
    expect(await data.ask(gaps)).toEqual([{ seconds: 2, cause: FRAME_TOO_LARGE }]);
  });

  it('has no part in which records of the event, or collector events of its session, were lost', async () => {
    await data.insert('collector_events', [
      collectorEvent('s-cut', 1, time(0), 'session-started'),
      collectorEvent('s-cut', 2, time(1), 'subscribed', { ...on('cut'), markets: ['m'] }),
      collectorEvent('s-cut', 3, time(1), 'subscribed', { ...on('cut', 'c1', 'chance'), markets: ['m'] }),
      collectorEvent('s-cut', 4, time(1), 'subscribed', { ...on('from the start'), markets: ['m'] }),
      collectorEvent('s-cut', 5, time(20), 'session-stopped', { cause: 'clean shutdown' }),
    ]);
    await data.insert('lost_ranges', [
      lost('chancery.order-book', 'cut', time(3), time(5), 'first'),
      lost('chancery.order-book', 'cut', time(4), time(7), 'second'),
      lost('chancery.collector-events', 's-cut', time(15), time(16), 'third'),
      lost('chancery.order-book', 'from the start', null, time(2), 'fourth'),
    ]);
    const end = 'the collector stopped: clean shutdown';
    const parts = (await ranges('cut')).map(({ b, e, state, cause }) => [b, e, state, cause]);
    expect(parts).toEqual([
      [1, 3, 'ended', 'records lost: first'],
      [1, 15, 'ended', 'records lost: third'],
      [7, 15, 'ended', 'records lost: third'],
      [16, 20, 'ended', end],
      [16, 20, 'ended', end],
    ]);
    const gaps = (event: string) =>
      data.ask(`SELECT dateDiff('millisecond', begins_at, ends_at) / 1000 AS seconds, cause FROM gaps
        WHERE event = '${event}' AND stream = 'order-book' ORDER BY begins_at`);
    expect(await gaps('cut')).toEqual([
      { seconds: 4, cause: 'records lost: first' },
      { seconds: 1, cause: 'records lost: third' },
    ]);
    expect(await gaps('from the start')).toEqual([
      { seconds: 1, cause: 'records lost: fourth' },
      { seconds: 1, cause: 'records lost: third' },
    ]);
    expect(await data.ask(`SELECT records, cause FROM lost_periods WHERE cause = 'fourth'`)).toEqual([
      { records: 2, cause: 'fourth' },
    ]);
  });

  it.each(STREAM_NAMES)('of the stream %s has no part in which records of its topic were lost', async (stream) => {
    const event = `cut on ${stream}`;
    const session = `session of ${stream}`;
    await data.insert('collector_events', [
      collectorEvent(session, 1, time(0), 'session-started'),
      collectorEvent(session, 2, time(1), 'subscribed', { ...on(event, 'c1', stream), markets: ['m'] }),
      collectorEvent(session, 3, time(20), 'session-stopped', { cause: 'clean shutdown' }),
    ]);
    await data.insert('lost_ranges', [lost(RECORD_KINDS[STREAM_KINDS[stream]], event, time(3), time(5), stream)]);
    expect(await ranges(event)).toMatchObject([
      { b: 1, e: 3, cause: `records lost: ${stream}` },
      { b: 5, e: 20 },
    ]);
  });

  it('of a killed collector ends at its last heartbeat, despite later events', async () => {
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

  it('of a killed collector ends at the last frame of the connection, which may have been stale', async () => {
    const at = (seconds: number) => Date.UTC(2026, 0, 5, 12) * 1000 + seconds * 1e6;
    await data.insert('collector_events', [
      collectorEvent('k', 1, time(0), 'session-started'),
      collectorEvent('k', 2, time(1), 'subscribed', { ...on('silent', 's4'), markets: ['m'] }),
      collectorEvent('k', 3, time(1), 'subscribed', { ...on('busy', 't4'), markets: ['m'] }),
      collectorEvent('k', 4, time(1), 'subscribed', { ...on('cut before the kill', 'u4'), markets: ['m'] }),
      collectorEvent('k', 5, time(4), 'disconnected', { stream: 'order-book', connection_id: 'u4', cause: 'reset' }),
      collectorEvent('k', 6, time(11), 'heartbeat', { last_frames: { s4: at(3), t4: at(10.5) } }),
      collectorEvent('k', 7, time(12), 'heartbeat', { last_frames: { s4: at(3), t4: at(12.5) } }),
    ]);
    const cause = 'no further heartbeat of the collector';
    expect(await ranges('silent')).toEqual([{ b: 1, e: 3, state: 'ended', cause }]);
    // Its last frame came after the time up to which everything is durable.
    expect(await ranges('busy')).toEqual([{ b: 1, e: 12, state: 'ended', cause }]);
    expect(await ranges('cut before the kill')).toEqual([{ b: 1, e: 4, state: 'ended', cause: 'disconnected: reset' }]);
  });

  it('of a live or cleanly stopped collector does not end at the last frame: a stream may be idle', async () => {
    const idle = { last_frames: { i4: Date.UTC(2026, 0, 5, 12) * 1000 + 3e6 } };
    await data.insert('collector_events', [
      collectorEvent('i', 1, time(0), 'session-started'),
      collectorEvent('i', 2, time(1), 'subscribed', { ...on('idle', 'i4'), markets: ['m'] }),
      collectorEvent('i', 3, time(12), 'heartbeat', idle),
      collectorEvent('i', 4, time(13), 'session-stopped', { cause: 'clean shutdown' }),
      collectorEvent('j', 1, ago(60), 'session-started'),
      collectorEvent('j', 2, ago(50), 'subscribed', { ...on('idle and live', 'i4'), markets: ['m'] }),
      collectorEvent('j', 3, ago(0.5), 'heartbeat', idle),
    ]);
    expect(await ranges('idle')).toMatchObject([{ b: 1, e: 13 }]);
    expect(await ranges('idle and live')).toMatchObject([{ state: 'live', cause: '' }]);
    expect(
      await data.ask(`SELECT * FROM gaps WHERE event = 'idle and live' AND cause != 'not yet subscribed'`),
    ).toEqual([]);
  });

  it('of a stale subscription ends at its last verification, and begins again when it is subscribed again', async () => {
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

  it('has the cause `diverged` since the last equal audit when an audit found other prices', async () => {
    const on3 = on('diverged', 'a1');
    await data.insert('collector_events', [
      collectorEvent('s-diverged', 1, time(0), 'session-started'),
      collectorEvent('s-diverged', 2, time(1), 'subscribed', { ...on3, markets: ['m'] }),
      collectorEvent('s-diverged', 3, time(33), 'stale', { ...on3, last_verified_at: time(1.5), cause: DIVERGED }),
      collectorEvent('s-diverged', 4, time(34), 'subscribed', { ...on3, markets: ['m'] }),
      collectorEvent('s-diverged', 5, time(40), 'session-stopped', { cause: 'clean shutdown' }),
    ]);
    expect(await ranges('diverged')).toMatchObject([{ b: 1, e: 1.5, cause: DIVERGED }, { b: 34 }]);
    const gaps = `SELECT seconds, cause FROM gaps WHERE event = 'diverged'`;
    expect(await data.ask(gaps)).toEqual([{ seconds: 32.5, cause: DIVERGED }]);
  });

  it('is not interrupted by silence that a probe verified, nor by more markets', async () => {
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

  it('is live while its collector writes heartbeats', async () => {
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

  it('of several collectors is merged where it overlaps', async () => {
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
    // Listed from 0 to 100, observed 10 to 40 and 60 to 100 on both streams; a later poll does not list it.
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

  it('are the times between coverage while the event was open, with the backfilled part', async () => {
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

  it('last while no collector observes an open event, and not while one does', async () => {
    // Before the events, so that it ended before they were first seen, however long an insert takes.
    await data.insert('polls', [searchPoll(ago(101))]);
    await data.insert('event_observations', [
      eventSeen('unobserved', ago(100)),
      eventSeen('unobserved', ago(1)),
      eventSeen('observed', ago(1)),
    ]);
    await data.insert('collector_events', [
      collectorEvent('w', 1, ago(60), 'session-started'),
      collectorEvent('w', 2, ago(50), 'subscribed', { ...on('observed', 'w1'), markets: ['m'] }),
      // Later than any query of the test, however long it takes: the session is live.
      collectorEvent('w', 3, ago(-600), 'heartbeat'),
    ]);
    const gaps = await data.ask(
      `SELECT event, round(seconds / 20) AS about, cause FROM gaps WHERE event IN ('unobserved', 'observed') AND stream = 'order-book'`,
    );
    expect(gaps).toEqual([{ event: 'unobserved', about: 5, cause: 'not yet subscribed' }]);
    const [observed] = await data.ask(
      `SELECT observed, live, open FROM coverage_by_event WHERE event = 'observed' AND stream = 'order-book'`,
    );
    expect(observed).toEqual({ observed: 1, live: true, open: true });
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
      // Sent twice: it is no point of the series.
      { ...point(130, 0.7, 130.2), repeated: true },
      point(131, 0.7, 131.1, 'aggregate'),
      point(141, 0.65, 141.1, 'aggregate'),
    ]);
    const history = (seconds: number, chance: number, period = '1s', received = 150) => ({
      market: 'k1',
      event: 'ek',
      period,
      occurred_at: time(seconds),
      received_at: time(received),
      chance,
      source: 'rest',
    });
    // Observed 0 to 60 and 120 to 180. Second 5 was received live; 50, 55 and 140 were skipped; 69 and 119 are in the gap.
    await data.insert('chance_history_points', [
      history(6, 0.3),
      history(50, 0.02, 'raw'),
      history(55, 0.04, 'raw'),
      history(56, 0.04),
      history(60, 0.98, '5M'),
      history(70, 0.8),
      history(90, 0.15, '5M'),
      history(120, 0.45),
      // Second 130 may not have been over; a later response has its last chance.
      history(130, 0.1, 'raw', 131),
      history(140, 0.65, 'raw'),
      history(141, 0.65),
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

  it('has the live points, and those of history in gaps and where the stream skipped points', async () => {
    const series = await data.ask(
      `SELECT round(toUnixTimestamp64Micro(occurred_at) / 1e6 - 1767614400, 6) AS at, chance, source FROM chance_series WHERE market = 'k1' ORDER BY occurred_at, received_at, log_position`,
    );
    expect(series).toEqual([
      { at: -500, chance: 0.1, source: 'last-known' },
      { at: 5, chance: 0.2, source: 'live' },
      { at: 5, chance: 0.9, source: 'live' },
      { at: 5, chance: 0.3, source: 'live' },
      { at: 50.999999, chance: 0.02, source: 'history' },
      { at: 55.999999, chance: 0.04, source: 'history' },
      { at: 69.999999, chance: 0.8, source: 'history' },
      { at: 89.999999, chance: 0.15, source: 'history' },
      { at: 90, chance: 0.6, source: 'last-known' },
      { at: 119.999999, chance: 0.45, source: 'history' },
      { at: 130, chance: 0.7, source: 'live' },
      { at: 140.999999, chance: 0.65, source: 'history' },
    ]);
  });

  it('lists the points that the stream skipped while the event was observed', async () => {
    const skipped = await data.ask(
      `SELECT round(toUnixTimestamp64Micro(occurred_at) / 1e6 - 1767614400, 6) AS at, chance, live_chance, source
       FROM skipped_chance_points WHERE market = 'k1' ORDER BY at`,
    );
    expect(skipped).toEqual([
      { at: 50.999999, chance: 0.02, live_chance: null, source: 'raw' },
      { at: 55.999999, chance: 0.04, live_chance: null, source: 'raw' },
      { at: 140.999999, chance: 0.65, live_chance: null, source: 'update-history' },
    ]);
  });

  it('takes the last chance of a second from the response that was received last', async () => {
    const point = { market: 'k2', event: 'ek', chance: 0.2 };
    const live = { ...point, occurred_at: time(10), source: 'change' };
    await data.insert('chance_points', [
      { ...live, chance: 0.1, received_at: time(10.1) },
      { ...live, chance: 0.2, received_at: time(10.2) },
      { ...live, chance: 0.1, received_at: time(10.3), occurred_at: time(11) },
    ]);
    const known = { ...point, period: 'raw', source: 'stream' };
    await data.insert('chance_history_points', [
      // The first point of the second again, which the stream skipped.
      { ...known, occurred_at: time(10), received_at: time(20), chance: 0.1 },
      { ...known, occurred_at: time(11), received_at: time(20), chance: 0.3 },
      { ...known, occurred_at: time(11), received_at: time(40), chance: 0.1 },
    ]);
    expect(await data.ask(`SELECT chance, live_chance, received_at FROM chance_backfills WHERE market = 'k2'`)).toEqual(
      [{ chance: 0.1, live_chance: 0.2, received_at: '2026-01-05 12:00:20.000000' }],
    );
  });

  it('has candles with their observed, backfilled and missing parts', async () => {
    const candles = await data.ask(
      `SELECT toUnixTimestamp(begins_at) - 1767614400 AS b, open, high, low, close, points, round(observed, 6) AS observed,
         round(backfilled, 6) AS backfilled, round(missing, 6) AS missing
       FROM chance_candles(period_seconds = 60) WHERE market = 'k1' AND begins_at >= '2026-01-05 12:00:00' ORDER BY begins_at`,
    );
    expect(candles).toEqual([
      { b: 0, open: 0.2, high: 0.9, low: 0.02, close: 0.04, points: 5, observed: 1, backfilled: 0, missing: 0 },
      { b: 60, open: 0.8, high: 0.8, low: 0.15, close: 0.45, points: 3, observed: 0, backfilled: 0.5, missing: 0.5 },
      { b: 120, open: 0.7, high: 0.7, low: 0.65, close: 0.65, points: 2, observed: 1, backfilled: 0, missing: 0 },
    ]);
  });

  it('uses the later of two responses with the same point', async () => {
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
