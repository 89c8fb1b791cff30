import { beforeAll, describe, expect, it } from 'vitest';
import { PERIOD_CODES } from '../../client/wire/chance.js';
import { chanceHistory, parsePeriod } from '../../exchange/chance-history.js';
import { useDatabase } from '../support/database.js';
import { polled, seen } from './account-data.js';
import { collectorEvent, eventSeen, searchPoll, tick, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

const MONTH = 2_592_000;
/** The last and the first seconds of months. 2024 is a leap year. */
const TIMES = ['2024-01-31 23:59:59', '2024-02-01 00:00:00', '2024-02-29 23:59:59', '2024-03-01 00:00:00'];

const YEAR = 366 * 86_400;
const START = Date.UTC(2024, 1, 20) / 1000;
/** Seconds with a change: in each of the first seconds, and then ever farther apart, for a year. */
const SECONDS = [
  ...Array.from({ length: 8 }, (_, i) => START + i),
  ...Array.from({ length: 60 }, (_, i) => START + Math.round(10 * 1.26 ** i)).filter((at) => at < START + YEAR),
];
const chanceAt = (i: number): number => (1 + ((i * 37) % 98)) / 100;

beforeAll(async () => {
  data = new WarehouseData(host.database);
  await data.insert('event_observations', [
    eventSeen('leap', '2024-01-01 00:00:00', { markets: ['m'] }),
    eventSeen('leap', '2024-04-01 00:00:00', { markets: ['m'] }),
  ]);
  await data.insert('market_observations', [
    { market: 'm', event: 'leap', received_at: '2024-01-01', poll_id: 'p', yes_asset: 'y', no_asset: 'n' },
  ]);
  const { receipt, page } = polled('activity', '', '2024-02-15 12:00:00');
  await data.insert('polls', [searchPoll('2023-12-01 00:00:00'), receipt]);
  await data.insert('account_pages', [{ ...page, items: 0 }]);
  // Observed in the first half of February, which has 29 days, and in all of March.
  const observed = (from: string, to: string, sequence: number, connection_id: string) =>
    ['order-book', 'chance'].flatMap((stream, i) => {
      const on = { stream, connection_id: `${connection_id} ${stream}`, event: 'leap', markets: ['m'] };
      return [
        collectorEvent('s', sequence + 2 * i, from, 'subscribed', on),
        collectorEvent('s', sequence + 2 * i + 1, to, 'unsubscribed', { ...on, cause: 'test' }),
      ];
    });
  await data.insert('collector_events', [
    collectorEvent('s', 1, '2024-01-31 00:00:00', 'session-started'),
    ...observed('2024-02-01 00:00:00', '2024-02-15 12:00:00', 2, 'b'),
    ...observed('2024-03-01 00:00:00', '2024-04-01 00:00:00', 6, 'c'),
    collectorEvent('s', 10, '2024-04-02 00:00:00', 'session-stopped', { cause: 'test' }),
  ]);
  const on = { event: 'leap', market: 'm' };
  const point = (at: string, chance: number): Values => ({
    received_at: at,
    occurred_at: at,
    chance,
    source: 'change',
  });
  const iso = (second: number) => new Date(second * 1000).toISOString().replace('Z', '');
  const codes = { event: 'codes', market: 'c' };
  await data.insert('price_ticks', [
    ...TIMES.map((at) => tick('m', at, 0.5, on)),
    ...SECONDS.map((second, i) => tick('c', iso(second), chanceAt(i), codes)),
  ]);
  await data.insert('chance_points', [
    ...TIMES.map((at) => ({ ...on, ...point(at, 0.5) })),
    ...SECONDS.map((second, i) => ({ ...codes, ...point(iso(second), chanceAt(i)) })),
  ]);
  await data.insert(
    'activity_records',
    TIMES.map((at, i) => ({
      ...{ ...seen('', at, 'p'), trade_record_id: `r${i}`, user_id: 'zoe', market: 'm', side: 'BUY', quantity: '1' },
      ...{ price: '0.5', position: 'YES', is_primary: true, executed_at: at },
    })),
  );
});

describe('a period of 2592000 seconds', () => {
  it('is a calendar month in every view, complete as far as its 28 to 31 days are', async () => {
    const half = { at: '2024-02-01', observed: 0.5, backfilled: 0, missing: 0.5 };
    const none = { at: '2024-01-01', observed: 0, backfilled: 0, missing: 1 };
    const whole = { at: '2024-03-01', observed: 1, backfilled: 0, missing: 0 };
    const candles = ['candles', 'chance_candles', 'candles_with_volume'].map(
      (view) => `${view}(period_seconds = ${MONTH})`,
    );
    const window = `period_seconds = ${MONTH}, from_at = '2024-01-15', to_at = '2024-03-01 00:00:00.5'`;
    for (const source of [...candles, `market_periods(${window})`]) {
      const stream = source.startsWith('market_periods') ? `AND stream = 'chance'` : '';
      const rows = await data.ask(
        `SELECT toString(toDate(begins_at)) AS at, round(observed, 9) AS observed, backfilled, round(missing, 9) AS missing
         FROM ${source} WHERE market = 'm' ${stream} ORDER BY begins_at`,
      );
      expect([source, rows]).toEqual([source, [none, half, whole]]);
    }
    // The activity feed was read up to the middle of February.
    const read = [{ ...none, observed: 1, missing: 0 }, half, { ...whole, observed: 0, missing: 1 }];
    const volumes = ['trade_sizes', 'trade_imbalance', 'volume_by_period', 'volume_by_category'];
    for (const source of [
      ...volumes.map((view) => `${view}(period_seconds = ${MONTH})`),
      `volume_periods(${window})`,
    ]) {
      const rows = await data.ask(
        `SELECT toString(toDate(begins_at)) AS at, round(observed, 9) AS observed, backfilled, round(missing, 9) AS missing
         FROM ${source} WHERE scope = 'all' ORDER BY begins_at`,
      );
      expect([source, rows]).toEqual([source, read]);
    }
  });
});

describe('the period codes of the interface', () => {
  const raw = SECONDS.map((t, i) => ({ t, p: chanceAt(i) }));
  const lastAtOrBefore = (second: number) => raw.findLast(({ t }) => t <= second);
  const to = START + 2 * YEAR;

  it.each(PERIOD_CODES)(
    'candles end and close as the aggregates of the exchange do, at every period code: %s [6.2/rule-3]',
    async (code) => {
      const period = parsePeriod(code);
      if (period === undefined || period.unit === 'raw') throw new Error(`${code} is no period code`);
      const seconds = period.unit === 'month' ? MONTH : period.seconds;
      const aggregates = chanceHistory(lastAtOrBefore, { period, from: START - YEAR, to })?.map(({ t, p }) => [t, p]);
      const end = period.unit === 'month' ? 'begins_at + toIntervalMonth(1)' : `begins_at + ${seconds}`;
      for (const view of ['candle_prices', 'chance_candles']) {
        const rows = await data.ask<{ t: number; p: number }>(
          `SELECT toUnixTimestamp(${end}) AS t, close AS p FROM ${view}(period_seconds = ${seconds}) WHERE market = 'c' ORDER BY t`,
        );
        expect([view, rows.map(({ t, p }) => [t, p])]).toEqual([view, aggregates]);
      }
    },
  );
});
