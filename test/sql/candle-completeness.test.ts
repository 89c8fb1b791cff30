import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import {
  ago,
  collectorEvent,
  eventSeen,
  searchPoll,
  tick,
  time,
  type Values,
  WarehouseData,
} from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

const completeness = (view: string, market: string) =>
  data.ask(
    `SELECT toUnixTimestamp(begins_at) - 1767614400 AS b, round(observed, 6) AS observed, round(backfilled, 6) AS backfilled,
       round(missing, 6) AS missing
     FROM ${view}(period_seconds = 60) WHERE market = '${market}' ORDER BY begins_at`,
  );

beforeAll(async () => {
  data = new WarehouseData(host.database);
  // Event search shows the event from 30 to 60.5: the search that ended at 30 did not; later it shows other events only.
  await data.insert('event_observations', [
    eventSeen('short', time(30), { markets: ['m'] }),
    eventSeen('short', time(60.5), { markets: ['m'] }),
    eventSeen('outlived', time(0), { markets: ['n'] }),
    eventSeen('outlived', time(60.5), { markets: ['n'] }),
    eventSeen('glimpsed', time(90), { markets: ['g'], created_at: time(90) }),
    eventSeen('other', ago(5)),
  ]);
  await data.insert('market_observations', [
    { market: 'm', event: 'short', received_at: time(30), poll_id: 'p', yes_asset: 'm yes', no_asset: 'm no' },
    { market: 'g', event: 'glimpsed', received_at: time(90), poll_id: 'p', yes_asset: 'g yes', no_asset: 'g no' },
  ]);
  await data.insert('polls', [searchPoll(time(30)), searchPoll(ago(10))]);
  const book = { stream: 'order-book', connection_id: 'b', event: 'short', markets: ['m'] };
  const again = { ...book, connection_id: 'b2' };
  const chance = { ...book, stream: 'chance', connection_id: 'c' };
  const outlived = { ...book, connection_id: 'o', event: 'outlived', markets: ['n'] };
  const range = (from: number, to: number) => ({
    stream: 'chance',
    event: 'short',
    market: 'm',
    range_from: time(from),
    range_to: time(to),
  });
  await data.insert('collector_events', [
    collectorEvent('s', 1, time(0), 'session-started'),
    collectorEvent('s', 2, time(0), 'subscribed', outlived),
    collectorEvent('s', 3, time(30), 'subscribed', book),
    collectorEvent('s', 4, time(30), 'subscribed', chance),
    collectorEvent('s', 5, time(42), 'disconnected', { stream: 'order-book', connection_id: 'b', cause: 'reset' }),
    collectorEvent('s', 6, time(45), 'disconnected', { stream: 'chance', connection_id: 'c', cause: 'reset' }),
    collectorEvent('s', 7, time(48), 'subscribed', again),
    collectorEvent('s', 8, time(60.4), 'unsubscribed', { ...again, cause: 'test' }),
    collectorEvent('s', 9, time(66), 'unsubscribed', { ...outlived, cause: 'the event closed' }),
    collectorEvent('s', 10, time(70), 'backfilled', range(-60, -30)),
    collectorEvent('s', 11, time(70), 'backfilled', range(45, 54)),
    collectorEvent('s', 12, time(70), 'backfilled', range(60, 60.25)),
    collectorEvent('s', 13, time(200), 'session-stopped', { cause: 'done' }),
  ]);
  await data.insert('price_ticks', [
    ...[31, 60.1, 130].map((seconds) => tick('m', time(seconds), 0.5, { event: 'short' })),
    tick('n', time(61), 0.5, { event: 'outlived' }),
    tick('u', time(61), 0.5, { event: 'unknown' }),
    tick('g', time(95), 0.5, { event: 'glimpsed' }),
  ]);
  const point = { market: 'm', event: 'short', chance: 0.5 };
  await data.insert('chance_points', [{ ...point, occurred_at: time(31), received_at: time(31.1), source: 'change' }]);
  const history = (seconds: number): Values => ({
    ...{ ...point, period: '1s', occurred_at: time(seconds), received_at: time(70), source: 'rest' },
  });
  await data.insert('chance_history_points', [
    ...[-30, 61].map(history),
    { ...history(95), market: 'g', event: 'glimpsed' },
  ]);
});

describe('the completeness of candles', () => {
  it('is of the part of the period in which the event was open', async () => {
    expect((await completeness('candles', 'm')).slice(0, 2)).toEqual([
      { b: 0, observed: 0.8, backfilled: 0, missing: 0.2 },
      { b: 60, observed: 0.8, backfilled: 0, missing: 0.2 },
    ]);
  });

  it('is of the open part for chance too, with backfilled history', async () => {
    expect((await completeness('chance_candles', 'm')).slice(1)).toEqual([
      { b: 0, observed: 0.5, backfilled: 0.3, missing: 0.2 },
      { b: 60, observed: 0, backfilled: 0.5, missing: 0.5 },
    ]);
  });

  it('is that of all periods in which the event was open, also of those without a change', async () => {
    const from = 1767614400;
    const periods = (stream: string, seconds: number, [begins, ends]: readonly [number, number]) =>
      data.ask(
        `SELECT toUnixTimestamp(begins_at) - ${from} AS b, round(observed, 6) AS observed, round(backfilled, 6) AS backfilled,
           round(missing, 6) AS missing
         FROM market_periods(period_seconds = ${seconds}, from_at = '${from + begins}', to_at = '${from + ends}')
         WHERE market = 'm' AND stream = '${stream}' ORDER BY begins_at`,
      );
    expect(await periods('order-book', 60, [-300, 300])).toEqual([
      { b: 0, observed: 0.8, backfilled: 0, missing: 0.2 },
      { b: 60, observed: 0.8, backfilled: 0, missing: 0.2 },
    ]);
    expect(await periods('chance', 60, [-300, 300])).toEqual([
      { b: 0, observed: 0.5, backfilled: 0.3, missing: 0.2 },
      { b: 60, observed: 0, backfilled: 0.5, missing: 0.5 },
    ]);
    // Disconnected from 42 to 48.
    expect(await periods('order-book', 2, [39, 50])).toEqual([
      { b: 38, observed: 1, backfilled: 0, missing: 0 },
      { b: 40, observed: 1, backfilled: 0, missing: 0 },
      ...[42, 44, 46].map((b) => ({ b, observed: 0, backfilled: 0, missing: 1 })),
      { b: 48, observed: 1, backfilled: 0, missing: 0 },
    ]);
  });

  it('adds up to the missing part in coverage_by_event', async () => {
    const missing = await data.ask(
      `SELECT stream, round(missing * open_seconds, 6) AS seconds FROM coverage_by_event WHERE event = 'short' ORDER BY stream`,
    );
    // 0.2 of 30 s and the rest of the 0.5 s.
    expect(missing).toEqual([
      { stream: 'chance', seconds: 6.25 },
      { stream: 'order-book', seconds: 6.1 },
    ]);
  });

  it('continues while an event is observed that event search no longer lists', async () => {
    expect(await completeness('candles', 'n')).toEqual([{ b: 60, observed: 1, backfilled: 0, missing: 0 }]);
  });

  it('is of the whole period if the event was not open in it, or is unknown', async () => {
    expect((await completeness('candles', 'm')).slice(2)).toEqual([{ b: 120, observed: 0, backfilled: 0, missing: 1 }]);
    expect(await completeness('candles', 'u')).toEqual([{ b: 60, observed: 0, backfilled: 0, missing: 1 }]);
    expect((await completeness('chance_candles', 'm')).slice(0, 1)).toEqual([
      { b: -60, observed: 0, backfilled: 0.5, missing: 0.5 },
    ]);
  });

  it('is missing, not NaN, if the event was open for no time: it was created at its only listing', async () => {
    const none = { b: 60, observed: 0, backfilled: 0, missing: 1 };
    expect(await completeness('candles', 'g')).toEqual([none]);
    expect(await completeness('chance_candles', 'g')).toEqual([none]);
  });
});
