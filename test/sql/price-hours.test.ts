import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { discardBlocks, rollUpNextBlocks } from '../../transforms/worker/roll-up-blocks.js';
import { Connection } from '../../warehouse/index.js';
import { sqlFolder } from '../../warehouse/schema/migrate.js';
import { readRollup } from '../../warehouse/schema/sql-files.js';
import { useDatabase } from '../support/database.js';

const host = useDatabase({ migrated: true });
const signal = new AbortController().signal;
let connection: Connection;
const PARTITIONS = 2;
/** More than a group of 16 blocks. */
const OFFSETS = 1_200_000;
const STRIDE = 148;
const WINDOW_SECONDS = 200_000;
const QUERIES_WHILE_CHANGED = 40;

const rows = (sql: string) => host.database.rows<Record<string, unknown>>(sql, 'reader');

const MONTH = 2_592_000;
const beginOf = (seconds: number) =>
  seconds === MONTH
    ? "toDateTime64(toStartOfMonth(received_at), 6, 'UTC')"
    : `toDateTime64(intDiv(toUnixTimestamp(received_at), ${seconds}) * ${seconds}, 6, 'UTC')`;

/** The candles of the definition, from price_ticks alone, with other functions than the view. */
const candlesOfTicks = (seconds: number) =>
  rows(`
    SELECT event, market, begins_at, sorted[1].4 AS open, arrayMax(t -> t.4, sorted) AS high, arrayMin(t -> t.4, sorted) AS low,
      sorted[-1].4 AS close, sorted[-1].5 AS bid, sorted[-1].6 AS ask,
      if(empty(mids), NULL, mids[1]) AS mid_open, if(empty(mids), NULL, mids[-1]) AS mid_close, length(sorted) AS ticks
    FROM (
      SELECT *, arrayMap(t -> assumeNotNull((t.5 + t.6) / 2), arrayFilter(t -> ifNull(t.5 <= t.6, false), sorted)) AS mids
      FROM (
        SELECT event, market, ${beginOf(seconds)} AS begins_at,
          arraySort(t -> (t.1, t.2, t.3), groupArray((received_at, _offset, _index, toFloat64(last), bid, ask))) AS sorted
        FROM price_ticks WHERE NOT repeated AND last NOT IN (0, 1)
        GROUP BY event, market, begins_at
      )
    ) ORDER BY market, begins_at`);
const candles = (seconds: number) =>
  rows(`
    SELECT event, market, begins_at, open, high, low, close, bid, ask, mid_open, mid_close, ticks
    FROM candles(period_seconds = ${seconds}) ORDER BY market, begins_at`);
const movers = () => rows(`SELECT * FROM movers(window_seconds = ${WINDOW_SECONDS}) ORDER BY market`);
/** Those of the definition, between two times in SQL. */
const moversOfTicks = (startsAt: string, endsAt: string, end: 'now' | 'after') =>
  rows(`
    WITH ${startsAt} AS starts_at
    SELECT event, market, NULL AS title, NULL AS name, before.4 AS price_before, sorted[-1].4 AS price_${end},
      price_${end} - price_before AS change, arrayMax(t -> t.4, inside) AS high, arrayMin(t -> t.4, inside) AS low,
      length(inside) AS ticks, before.1 AS price_before_at, sorted[-1].1 AS price_${end}_at
    FROM (
      SELECT *, if(empty(earlier), inside[1], earlier[-1]) AS before
      FROM (
        SELECT *, arrayFilter(t -> t.1 > starts_at, sorted) AS inside, arrayFilter(t -> t.1 <= starts_at, sorted) AS earlier
        FROM (
          SELECT any(event) AS event, market,
            arraySort(t -> (t.1, t.2, t.3), groupArray((received_at, _offset, _index, toFloat64(last)))) AS sorted
          FROM price_ticks
          WHERE NOT repeated AND last NOT IN (0, 1) AND received_at >= toStartOfHour(starts_at - toIntervalDay(7)) AND received_at <= ${endsAt}
          GROUP BY market
        )
      )
    ) WHERE ticks > 0 ORDER BY market`);

async function expectExact(): Promise<void> {
  for (const seconds of [3600, 86_400, MONTH, 90_000, 5400])
    expect(await candles(seconds)).toEqual(await candlesOfTicks(seconds));
  await expectExactValues(3600);
  const now = "now64(6, 'UTC')";
  expect(await movers()).toEqual(await moversOfTicks(`${now} - ${WINDOW_SECONDS}`, now, 'now'));
  for (const [from, to] of WINDOWS) {
    const moved = await rows(`SELECT * FROM movers_between(from_at = '${from}', to_at = '${to}') ORDER BY market`);
    const time = (text: string) => `toDateTime64('${text}', 6, 'UTC')`;
    expect(moved).toEqual(await moversOfTicks(time(from), time(to), 'after'));
    expect(moved).not.toEqual([]);
  }
}

/** The held shares of an account are valued at the last tick before the end of each period, a resolution included. */
async function expectExactValues(seconds: number): Promise<void> {
  const [found] = await rows(`
    SELECT count() > 60 AS enough, countIf(price != last OR age != dateDiff('microsecond', tick_at, end_at) / 1e6) AS others
    FROM
    (
      SELECT market, toFloat64(price) AS price, price_age_seconds AS age,
        if(${seconds} = ${MONTH}, begins_at + toIntervalMonth(1), begins_at + toIntervalSecond(${seconds})) AS end_at
      FROM pnl_by_period(period_seconds = ${seconds}, price = 'chance') WHERE account = 'ann' AND price IS NOT NULL AND end_at < now()
    ) AS periods
    ASOF LEFT JOIN
    (
      SELECT toString(market) AS tick_market, received_at AS tick_at, argMax(toFloat64(last), (_offset, _index)) AS last
      FROM price_ticks WHERE NOT repeated GROUP BY market, received_at
    ) AS ticks ON market = tick_market AND end_at > tick_at`);
  expect(found).toEqual({ enough: 1, others: 0 });
}

/** Of some days, of minutes within one hour, and of minutes in two hours. */
const hourAgo = (hours: number, minutes: number) =>
  `${new Date(Math.floor(Date.now() / 3.6e6 - hours) * 3.6e6 + minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ')}`;
const WINDOWS = [
  [hourAgo(200, 17), hourAgo(40, 23)],
  [hourAgo(100, 5), hourAgo(100, 55)],
  [hourAgo(100, 55), hourAgo(99, 35)],
] as const;

const rollUp = async (partition: number, committed: number) => {
  while (await rollUpNextBlocks({ log: 'log', partition, shards: [connection] }, { committed }, signal));
};
const number = async (sql: string) => Number((await rows(sql))[0]?.n);
const heldTicks = () =>
  number('SELECT sum(ticks) AS n FROM price_hours WHERE rollup_id IN (SELECT rollup_id FROM price_blocks FINAL)');
const ticksOfDays = () =>
  number('SELECT sum(ticks) AS n FROM price_days WHERE rollup_id IN (SELECT days_id FROM price_blocks FINAL)');

beforeAll(async () => {
  const { owner, name } = host.database;
  connection = new Connection({ endpoint: owner, database: name, application: 'test' });
  // Twelve days of ticks up to now, in the order of offsets but for jitter of up to three hours: some arrive late. None is
  // within two minutes of the start of the window of movers, which moves with the clock.
  await host.database.run(`
    INSERT INTO price_ticks (_log, _partition, _offset, _index, received_at, event, market, last, bid, ask, source, repeated)
    WITH cityHash64(number, 'a') AS a, cityHash64(number, 'b') AS b, number % 6 AS m, intDiv(number, 2) * ${STRIDE} AS position,
      toUnixTimestamp(now()) - 1036800 + intDiv(position * 1036800, ${OFFSETS}) - a % 10800 AS at, 1 + b % 99 AS cents
    SELECT 'log', m % ${PARTITIONS}, position, a % 3, toDateTime64(at, 6, 'UTC') + toIntervalMillisecond(b % 4 * 250),
      concat('event-', toString(m % ${PARTITIONS})), concat('market-', toString(m)),
      if(a % 50 = 0, b % 2, cents / 100), if(b % 7 = 0, NULL, (cents - 1) / 100), if(b % 11 = 0, NULL, (cents + 1 - b % 13 % 4) / 100),
      'delta', a % 20 = 0
    FROM numbers(intDiv(${OFFSETS}, ${STRIDE}) * 2)
    WHERE abs(at - (toUnixTimestamp(now()) - ${WINDOW_SECONDS})) > 120 AND at < toUnixTimestamp(now()) - 60`);
  await host.database.run(`
    INSERT INTO market_observations (_log, _partition, _offset, _index, received_at, poll_id, event, market, yes_asset, no_asset)
    SELECT 'log', 0, number, 0, now64(6), 'poll', concat('event-', toString(number % ${PARTITIONS})), concat('market-', toString(number)),
      concat('yes-', toString(number)), concat('no-', toString(number))
    FROM numbers(6)`);
  await host.database.run(`
    INSERT INTO trade_records (_log, _partition, _offset, _index, received_at, account, poll_id, page, pass_began_at, trade_record_id, side, market, asset, quantity, price, executed_at)
    SELECT 'log', 0, number, 0, now64(6), 'ann', 'poll', 0, now64(6), toString(number), 'BUY', concat('market-', toString(number)), concat('yes-', toString(number)), 1, 0.5, now64(6) - toIntervalDay(13)
    FROM numbers(6)`);
});

afterAll(() => connection.close());

it('candles of hours and movers are those of the ticks, whatever price_hours holds', async () => {
  expect(await heldTicks()).toBe(0);
  await expectExact();

  // The first two blocks of one partition; the third one is not complete.
  await rollUp(0, 3 * 65_536 - 1);
  const some = await heldTicks();
  expect(some).toBeGreaterThan(500);
  await expectExact();

  // What is inserted but not published, as after a kill, or published twice by two workers.
  const { database } = connection;
  const range = { log: 'log', partition: 1, first_block: 0, last_block: 1 };
  const insert = readRollup(sqlFolder(), 'price_hours', database);
  await connection.command(insert, { params: { ...range, run: 1 } });
  await connection.command(insert, { params: { ...range, run: 2 } });
  expect(await heldTicks()).toBe(some);
  await expectExact();
  const publish = readRollup(sqlFolder(), 'price_blocks', database);
  await Promise.all([1, 2].map((run) => connection.command(publish, { params: { ...range, run } })));
  expect(await heldTicks()).toBeGreaterThan(some);
  await expectExact();

  await rollUp(0, 16 * 65_536 - 1);
  expect(await ticksOfDays()).toBe(0);
  await rollUp(0, OFFSETS);
  await rollUp(1, OFFSETS);
  expect(await number('SELECT count() AS n FROM price_blocks FINAL WHERE rollup_id = 0')).toBe(PARTITIONS);
  // 16 of 18 blocks.
  expect(await ticksOfDays()).toBeGreaterThan(0.8 * (await heldTicks()));
  await expectExact();
});

it('days of a group count only while price_hours holds the same of it', async () => {
  const { database } = connection;
  const statement = (name: string, params: Record<string, unknown>) =>
    connection.command(readRollup(sqlFolder(), name, database), {
      params: { log: 'log', partition: 1, block_group: 0, ...params },
    });
  const held = await ticksOfDays();
  // As after a kill before the publication.
  await statement('price_days', { run: 7 });
  // As when another worker has written rows again in between.
  await statement('price_groups', { run: 7, fingerprint: 1 });
  expect(await ticksOfDays()).toBe(held);
  await expectExact();
  await expectExactValues(86_400);
});

it('blocks whose rows are written again are read from the ticks until they are aggregated again', async () => {
  const source = { log: 'log', partition: 0, shards: [connection] };
  await discardBlocks(source, 65_536 + 5, signal);
  await host.database.run(`
    INSERT INTO price_ticks (_log, _partition, _offset, _index, received_at, event, market, last, source)
    SELECT 'log', 0, 65537 + number, 9, toDateTime64(toUnixTimestamp(now()) - 900000 + number, 6, 'UTC'), 'event-0', 'market-0', 0.5, 'delta'
    FROM numbers(70000)`);
  // Of its group also the block before the first one that is written again.
  expect(await number('SELECT count() AS n FROM price_blocks FINAL WHERE days_id != 0 AND _partition = 0')).toBe(0);
  await expectExact();
  await rollUp(0, OFFSETS);
  expect(await number('SELECT count() AS n FROM price_blocks FINAL WHERE rollup_id = 0 AND _partition = 0')).toBe(1);
  expect(await number('SELECT count() AS n FROM price_blocks FINAL WHERE days_id != 0 AND _partition = 0')).toBe(16);
  await expectExact();
});

it('a query that runs while blocks are published and withdrawn counts every tick once', async () => {
  const ticks = await number('SELECT count() AS n FROM price_ticks WHERE NOT repeated AND NOT is_resolution');
  await host.database.run('CREATE TABLE published AS price_blocks');
  await host.database.run('INSERT INTO published SELECT * FROM price_blocks FINAL');
  const wrong: number[] = [];
  let asked = 0;
  const ask = async () => {
    for (; asked < QUERIES_WHILE_CHANGED; asked++) {
      for (const seconds of [3600, 86_400]) {
        const sum = await number(`SELECT sum(ticks) AS n FROM candle_prices(period_seconds = ${seconds})`);
        if (sum !== ticks) wrong.push(sum);
      }
    }
  };
  const change = async () => {
    for (let changes = 1; asked < QUERIES_WHILE_CHANGED; changes++) {
      const ids = changes % 2 === 0 ? 'rollup_id, days_id' : '0, 0';
      await host.database.run(
        `INSERT INTO price_blocks SELECT _log, _partition, block, ${ids}, version + ${changes} FROM published`,
      );
    }
  };
  await Promise.all([ask(), change()]);
  expect(wrong).toEqual([]);
});

it('a block of which two shards have ticks is not aggregated, others are on their shard', async () => {
  const names = ['price_ticks', 'price_hours', 'price_blocks'];
  const shards: Connection[] = [];
  for (const number of [1, 2]) {
    const database = `${host.database.name}_shard_${number}`;
    await host.database.run(`CREATE DATABASE ${database}`);
    onTestFinished(() => host.database.run(`DROP DATABASE ${database} SYNC`).then(() => undefined));
    for (const name of names) {
      await connection.command(`CREATE TABLE ${database}.${name} AS ${host.database.name}.${name}`, {
        settings: { allow_suspicious_low_cardinality_types: 1 },
      });
    }
    shards.push(new Connection({ endpoint: host.database.owner, database, application: 'test' }));
  }
  onTestFinished(async () => void (await Promise.all(shards.map((shard) => shard.close()))));
  const blocks = [
    [0, 2, 3, 5],
    [1, 3, 4],
  ];
  for (const [number, shard] of shards.entries()) {
    for (const block of blocks[number] ?? []) {
      await shard.command(
        `INSERT INTO ${shard.database}.price_blocks (_log, _partition, block) VALUES ('log', 0, ${block})`,
      );
      await shard.command(`
        INSERT INTO ${shard.database}.price_ticks (_log, _partition, _offset, _index, received_at, event, market, last, source)
        VALUES ('log', 0, ${block * 65_536 + number}, 0, '2026-01-01 00:00:0${block}', 'event', 'market', 0.5, 'delta')`);
    }
  }
  while (await rollUpNextBlocks({ log: 'log', partition: 0, shards }, { committed: 6 * 65_536 }, signal));
  const held = shards.map((shard) =>
    shard.query<{ held: number[]; ticks: number }>(`
      SELECT (SELECT arraySort(groupArray(block)) FROM ${shard.database}.price_blocks FINAL WHERE rollup_id != 0) AS held, sum(ticks) AS ticks
      FROM ${shard.database}.price_hours WHERE rollup_id IN (SELECT rollup_id FROM ${shard.database}.price_blocks FINAL)`),
  );
  expect((await Promise.all(held)).flat().map(({ held, ticks }) => [held, Number(ticks)])).toEqual([
    [[0, 2, 5], 3],
    [[1, 4], 2],
  ]);
});
