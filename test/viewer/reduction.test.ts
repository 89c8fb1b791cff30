import { beforeAll, describe, expect, it } from 'vitest';
import type { PanelData } from '../../viewer/dashboard-queries.js';
import type { Value } from '../../viewer/frames.js';
import type { ViewerServer } from '../../viewer/index.js';
import { useDatabase } from '../support/database.js';
import { dashboard, folderOf, panel } from './dashboards.js';
import { ask, startViewer, view } from './viewer-rig.js';

const ROWS = 300_000;
const FROM = Date.UTC(2026, 0, 1);
const TO = FROM + ROWS * 100;
const COLUMNS = 600;
const host = useDatabase({ migrated: false });
let viewer: ViewerServer;

const SERIES = 'SELECT at AS time, price FROM points WHERE $__timeFilter(at) ORDER BY time';
const BY_MARKET = `SELECT at AS time, if(n % 2 = 0, 'even', 'odd') AS market, price FROM points WHERE $__timeFilter(at) ORDER BY time`;
beforeAll(async () => {
  await host.database.run(
    "CREATE TABLE points (at DateTime64(3, 'UTC'), n UInt32, price Nullable(Float64)) ENGINE = MergeTree ORDER BY at",
  );
  await host.database.run(
    `INSERT INTO points SELECT fromUnixTimestamp64Milli(${FROM} + number * 100, 'UTC'), number,
      if(number BETWEEN 100000 AND 130000 OR number = 200500, NULL, cityHash64(number) % 100000 / 7) FROM numbers(${ROWS})`,
  );
  const panels = [
    panel(1, 'timeseries', SERIES),
    panel(2, 'timeseries', BY_MARKET),
    panel(3, 'timeseries', SERIES, { options: { legend: { calcs: ['mean'] } } }),
    panel(4, 'timeseries', `${SERIES} LIMIT 100`),
    panel(
      6,
      'timeseries',
      "SELECT toTimeZone(at, 'Asia/Tokyo') AS time, toLowCardinality(toInt32(price) - 7000) AS price FROM points WHERE $__timeFilter(at) ORDER BY time SETTINGS allow_suspicious_low_cardinality_types = 1",
    ),
    panel(
      7,
      'timeseries',
      'SELECT at AS time, toDecimal64(toInt32(price) - 7000, 4) AS price FROM points WHERE $__timeFilter(at) ORDER BY time',
    ),
    panel(5, 'timeseries', `${SERIES} SETTINGS max_block_size = 1000, max_threads = 1`),
  ];
  viewer = await startViewer(host.database, folderOf({ 'a.json': dashboard('points', panels) }));
});

const shown = async (id: number) => {
  const range = { from: String(FROM), to: String(TO) };
  return ask(`${viewer.url}/api/dashboards/points/panels/${id}/data`, { body: view({}, range) });
};
const numberOf = (value: Value | undefined) => (value === null || value === undefined ? null : Number(value));
const fieldsOf = async (id: number) => {
  const { status, text } = await shown(id);
  expect(status, text.slice(0, 500)).toBe(200);
  return (JSON.parse(text) as PanelData).frames[0]?.fields ?? [];
};

describe('a series with more points than the panel has pixels', () => {
  it('has the first, the minimum, the maximum and the last point of each pixel column, and its NULLs', async () => {
    const [time, price] = await fieldsOf(1);
    const points = (time?.values ?? []).map((at, i) => [Number(at), numberOf(price?.values[i])] as const);
    const width = (TO - FROM) / COLUMNS;
    const expected = await host.database.rows<Record<string, number | null>>(
      `SELECT intDiv(toUnixTimestamp64Milli(at) - ${FROM}, ${width}) AS column, toUnixTimestamp64Milli(min(at)) AS first,
        toUnixTimestamp64Milli(max(at)) AS last, min(price) AS least, max(price) AS most, countIf(isNull(price)) > 0 AS gap
      FROM points GROUP BY column ORDER BY column`,
    );
    expect(expected).toHaveLength(COLUMNS);
    for (const { column, first, last, least, most, gap } of expected) {
      const own = points.filter(([at]) => Math.floor((at - FROM) / width) === column);
      const values = own.map(([, value]) => value).filter((value) => value !== null);
      expect([own[0]?.[0], own.at(-1)?.[0]]).toEqual([first, last]);
      expect(values.length).toBeLessThanOrEqual(4);
      if (least === null) expect(values).toEqual([]);
      else expect([Math.min(...values), Math.max(...values)]).toEqual([least, most]);
      expect(own.some(([, value]) => value === null)).toBe(gap === 1);
    }
    expect(points.map(([at]) => at)).toEqual(points.map(([at]) => at).toSorted((a, b) => a - b));
  });

  it('has the same points where its numbers are compared as integers as where whole rows are compared', async () => {
    const [integers, rows] = await Promise.all(
      [6, 7].map(async (id) => {
        const [time, price] = await fieldsOf(id);
        return time?.values.map((at, i) => `${Number(at)} ${numberOf(price?.values[i])}`) ?? [];
      }),
    );
    expect(integers?.length).toBeGreaterThan(2 * COLUMNS);
    expect(new Set(integers)).toEqual(new Set(rows));
  });

  it('is reduced also where ClickHouse has begun to send the rows that are too many', async () => {
    const [time] = await fieldsOf(5);
    expect(time?.values.length).toBeGreaterThan(COLUMNS);
    expect(time?.values.length).toBeLessThanOrEqual(COLUMNS * 6);
  });

  it('is reduced by itself where a query returns several', async () => {
    const [time, ...series] = await fieldsOf(2);
    expect(series.map(({ labels }) => labels?.['market'])).toEqual(['even', 'odd']);
    expect(time?.values.length).toBeLessThanOrEqual(COLUMNS * 2 * 6);
    for (const [i, { values }] of series.entries()) {
      const [row] = await host.database.rows(
        `SELECT min(price) AS least, max(price) AS most FROM points WHERE n % 2 = ${i}`,
      );
      const numbers = values.filter((value) => value !== null).map(Number);
      expect({ least: Math.min(...numbers), most: Math.max(...numbers) }).toEqual(row);
    }
  });

  it('is refused where the panel calculates its mean', async () => {
    expect(await shown(3)).toMatchObject({ status: 400, text: expect.stringContaining('50') });
  });

  it('is complete where it fits', async () => expect((await fieldsOf(4))[0]?.values).toHaveLength(100));
});
