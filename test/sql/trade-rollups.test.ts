import { afterAll, beforeAll, expect, it } from 'vitest';
import { rollUpNextTrades } from '../../transforms/worker/roll-up-trades.js';
import { Connection } from '../../warehouse/index.js';
import { useDatabase } from '../support/database.js';

const host = useDatabase({ migrated: true });
const signal = new AbortController().signal;
let connection: Connection;
const TRADES = 4200;
const MARKETS = 20;

const rows = (sql: string) => host.database.rows<Record<string, unknown>>(sql, 'reader');

/**
 * Trades `from` to `to` in the order of offsets, of three accounts and 20 markets with two assets each. Every tenth fill has a
 * second record: of another account, on another partition.
 */
const insert = async (from: number, to: number, { log = 'log', partition = 0, offset = '_number', seen = 0 } = {}) => {
  await host.database.run(`
    INSERT INTO trade_records (_log, _partition, _offset, _index, received_at, account, poll_id, page, pass_began_at, trade_record_id, trade_id,
      side, event, market, asset, quantity, price, fee, executed_at)
    WITH number + ${from} AS _number, arrayJoin(if(_number % 10 = 0, [0, 1], [0])) AS second, cityHash64(_number, 'a') AS a, cityHash64(_number, second, 'b') AS b,
      a % ${MARKETS} AS market_number, cityHash64(_number, 'c') AS c
    SELECT '${log}', if(second = 1, 1, ${partition}), ${offset}, 2 * _number + second, now64(6) + ${seen}, if(second = 1, 'third', ['first', 'second'][1 + c % 2]), 'poll', 0, now64(6) + ${seen},
      concat('record-', toString(_number), '-', toString(second)), if(_number % 97 = 0, '', concat('fill-', toString(_number))),
      if(b % 5 < 3, 'BUY', 'SELL'), if(a % 3 = 0, '', concat('event-', toString(market_number % 7))), concat('market-', toString(market_number)),
      concat('asset-', toString(market_number), if((c % 3 = 0) = (second = 0), '-yes', '-no')), toDecimal128(1 + a % 1000003, 12) / 1000003 + 1, toDecimal128(1 + b % 99, 12) / 100,
      if(b % 7 = 0, NULL, toDecimal128(b % 1000, 12) / 10000),
      if(a % 89 = 0, NULL, toDateTime64('2026-01-10 00:00:00', 6, 'UTC') + a % (5 * 86400))
    FROM numbers(${to - from})`);
};

const COLUMNS = `account, event, market, asset, trades, last_trade_at, bought_shares, bought_value, sold_shares, sold_value, fees,
  cost, fifo_cost, oversold_shares`;
const totals = () => rows(`SELECT ${COLUMNS} FROM position_totals ORDER BY account, asset`);
/** Not a whole number of days, so computed from the trades: all of them are in its first period. */
const costs = () => rows(`SELECT ${COLUMNS} FROM position_costs(period_seconds = 2000000000) ORDER BY account, asset`);

const SUMS = `day, event, market, trades, shares, volume, yes_value, unpriced_trades, unpriced_shares`;
const volumes = () =>
  rows(`SELECT ${SUMS} FROM volume_by_market_and_day WHERE scope = 'own' ORDER BY day, event, market`);
/** The definition, from the trades alone, with other functions than the views: a fill once, by the side that the feed has, or that paid more. */
const volumesOfTrades = () =>
  rows(`
    SELECT day, event, market, length(fills) AS trades, arraySum(fills.1) AS shares,
      CAST(arraySum(f -> toDecimal256(f.1, 12) * toDecimal256(f.2, 12), fills), 'Decimal(38, 12)') AS volume,
      CAST(arraySum(f -> toDecimal256(f.1, 12) * toDecimal256(multiIf(f.3 = 'YES', f.2, f.3 = 'NO', 1 - f.2, 0), 12), fills), 'Decimal(38, 12)') AS yes_value,
      length(arrayFilter(f -> f.3 = '', fills)) AS unpriced_trades,
      arraySum(arrayFilter(f -> f.3 = '', fills).1) AS unpriced_shares
    FROM
    (
      SELECT day, if(said = '', known_event, said) AS event, market, groupArray((quantity, price, outcome)) AS fills
      FROM
      (
        SELECT toDate(executed_at) AS day, event AS said, market, asset, quantity, price
        FROM (SELECT * FROM trades) AS records
        LEFT JOIN (SELECT trade_record_id, 1 AS in_feed FROM activity) AS feed USING (trade_record_id)
        ORDER BY in_feed DESC, ifNull(fee, 0) DESC, trade_record_id DESC
        LIMIT 1 BY if(trade_id = '', trade_record_id, trade_id)
      ) AS counted
      LEFT JOIN (SELECT market, event AS known_event FROM markets) AS known USING (market)
      LEFT JOIN (SELECT asset, outcome FROM assets) AS outcomes USING (asset)
      GROUP BY day, event, market
    ) ORDER BY day, event, market`);

const held = async () => {
  const [row] = await rows(`
    SELECT (SELECT count() FROM position_totals WHERE computed_at IS NOT NULL) AS positions, (SELECT count() FROM own_volumes FINAL) AS markets`);
  return row;
};

const OWNED = new Map([
  [0, 1e6],
  [1, 1e6],
]);
const rollUp = async (owned = OWNED, log = 'log') => {
  let runs = 1;
  const source = { log, partition: 0, shards: [connection] };
  for (; await rollUpNextTrades(source, { committed: owned.get(0) ?? 0, owned }, signal); runs++);
  return runs;
};

/** Both answers equal their definition; returns them. */
async function expectExact() {
  const answers = { totals: await totals(), volumes: await volumes() };
  expect(answers).toEqual({ totals: await costs(), volumes: await volumesOfTrades() });
  return answers;
}

/** Costs by day, by month and of all trades equal those at the end of the last hour with a trade; hours are computed from the trades. */
async function expectExactPeriods() {
  const hours = `(SELECT * FROM position_costs(period_seconds = 3600))`;
  const starts = [
    [86400, 'toStartOfDay(begins_at)'],
    [2592000, 'toDateTime64(toStartOfMonth(begins_at), 0)'],
    [0, 'toDateTime64(0, 0)'],
  ] as const;
  for (const [seconds, start] of starts) {
    const found = await rows(
      `SELECT toUnixTimestamp(begins_at) AS start, ${COLUMNS} FROM position_costs(period_seconds = ${seconds}) ORDER BY account, asset, start`,
    );
    expect(found.length).toBeGreaterThan(MARKETS * 2);
    expect(found).toEqual(
      await rows(
        `SELECT toUnixTimestamp(${start}) AS start, ${COLUMNS} FROM ${hours} ORDER BY account, asset, start, begins_at DESC LIMIT 1 BY account, asset, start`,
      ),
    );
  }
}

beforeAll(async () => {
  const { owner, name } = host.database;
  connection = new Connection({ endpoint: owner, database: name, application: 'test' });
  await insert(0, TRADES);
  // Event search listed half of the markets; the feed has some of the sides of fills with two records.
  await host.database.run(`
    INSERT INTO market_observations (_log, _partition, _offset, _index, received_at, poll_id, event, market, name, yes_asset, no_asset)
    SELECT 'log', 0, number, 0, now64(6), 'poll', concat('event-', toString(number % 7)), concat('market-', toString(number)), 'name',
      concat('asset-', toString(number), '-yes'), concat('asset-', toString(number), '-no')
    FROM numbers(${MARKETS / 2})`);
  await host.database.run(`
    INSERT INTO activity_records (_log, _partition, _offset, _index, received_at, poll_id, trade_record_id, market, side, quantity, price, executed_at)
    SELECT 'log', 0, number, 0, now64(6), 'poll', concat('record-', toString(number * 10), '-', toString(number % 2)), 'market-1', 'BUY', 1, 0.5, now64(6)
    FROM numbers(${TRADES / 30})`);
});

afterAll(() => connection.close());

it('profit and volume of our accounts are those of the trades, whatever the worker has computed', async () => {
  const before = await expectExact();
  expect(before.totals.length).toBeGreaterThan(MARKETS * 2);
  expect(before.volumes.length).toBeGreaterThan(MARKETS * 5);

  // Nothing of trades that are not committed, or of a partition of which it is not known.
  await rollUp(
    new Map([
      [0, 10],
      [1, 10],
    ]),
  );
  expect(await held()).toMatchObject({ markets: 0 });
  await rollUp(new Map([[0, 1e6]]));
  const some = await held();
  expect(Number(some?.['positions'])).toBeGreaterThan(0);
  expect(some).toMatchObject({ markets: 0 });
  expect(await expectExact()).toEqual(before);

  await rollUp();
  expect(await held()).toEqual({ positions: before.totals.length, markets: MARKETS });
  expect(await expectExact()).toEqual(before);
  await expectExactPeriods();
  expect(await rollUp()).toBe(1);
});

it('what was computed is not computed again by the views', async () => {
  const before = { totals: await totals(), volumes: await volumes() };
  // A record with one side of fills only: no other is read for these two.
  await host.database.run(
    `ALTER TABLE trade_records DELETE WHERE account = 'first' AND trade_record_id NOT IN (SELECT trade_record_id FROM (SELECT * FROM trade_records FINAL) WHERE trade_id IN (SELECT trade_id FROM trade_records FINAL GROUP BY trade_id HAVING count() > 1)) SETTINGS mutations_sync = 2`,
  );
  expect(await costs()).not.toEqual(before.totals);
  expect({ totals: await totals(), volumes: await volumes() }).toEqual(before);
  await insert(0, TRADES);
});

it('a trade that arrives later counts at once, also one that is listed again, and one of a new log', async () => {
  await insert(TRADES, TRADES + 500);
  const more = await expectExact();
  await expectExactPeriods();
  await insert(TRADES, TRADES + 500, { offset: '_number + 1000', seen: 60 });
  await expectExact();
  await rollUp();
  expect(await expectExact()).toEqual(more);

  await insert(TRADES + 500, TRADES + 700, { log: 'new log' });
  const expected = await expectExact();
  expect(expected).not.toEqual(more);
  await rollUp(OWNED, 'new log');
  expect(await expectExact()).toEqual(expected);
});

it('the other side of a fill, and what event search and the feed say later, count at once', async () => {
  await rollUp(OWNED, 'new log');
  // The second record of fills that had one.
  await host.database.run(`
    INSERT INTO trade_records (_log, _partition, _offset, _index, received_at, account, poll_id, page, pass_began_at, trade_record_id, trade_id,
      side, event, market, asset, quantity, price, fee, executed_at)
    SELECT 'new log', 1, ${TRADES + 700} + rowNumberInAllBlocks(), rowNumberInAllBlocks(), now64(6) + 120, 'third', 'poll', 0, now64(6), concat(trade_record_id, '-other'), trade_id,
      if(side = 'BUY', 'SELL', 'BUY'), event, market, asset, quantity, price, 1, executed_at
    FROM (SELECT * FROM trade_records FINAL WHERE trade_id LIKE 'fill-%1' ORDER BY trade_record_id LIMIT 50)`);
  const shared = await expectExact();
  await rollUp(OWNED, 'new log');
  expect(await expectExact()).toEqual(shared);
  await host.database.run(`
    INSERT INTO market_observations (_log, _partition, _offset, _index, received_at, poll_id, event, market, name, yes_asset, no_asset)
    SELECT 'log', 0, 1000 + number, 0, now64(6), 'poll', concat('event-', toString(number % 7)), concat('market-', toString(number)), 'name',
      concat('asset-', toString(number), '-yes'), concat('asset-', toString(number), '-no')
    FROM numbers(${MARKETS})`);
  const listed = await expectExact();
  expect(listed.volumes).not.toEqual(shared.volumes);
  await host.database.run(`
    INSERT INTO activity_records (_log, _partition, _offset, _index, received_at, poll_id, trade_record_id, market, side, quantity, price, executed_at)
    SELECT 'log', 0, 9000 + rowNumberInAllBlocks(), 0, now64(6), 'poll', trade_record_id, market, side, quantity, price, executed_at
    FROM (SELECT * FROM trade_records FINAL WHERE account = 'third' ORDER BY trade_record_id LIMIT 200)`);
  await expectExact();
});

it('the same computed twice, as by two workers at once, counts once', async () => {
  await insert(TRADES + 800, TRADES + 1000, { log: 'new log' });
  const before = await expectExact();
  await Promise.all([rollUp(OWNED, 'new log'), rollUp(OWNED, 'new log')]);
  expect(await expectExact()).toEqual(before);
});

it('a record that is sent again with the other asset of its market counts once, for that asset', async () => {
  await rollUp(OWNED, 'new log');
  const count = `SELECT toUInt32(sum(trades)) AS trades FROM position_totals`;
  const before = await rows(count);
  const { totals: former } = await expectExact();
  await host.database.run(`
    INSERT INTO trade_records (* EXCEPT (_log, _offset, received_at, asset), _log, _offset, received_at, asset)
    SELECT * EXCEPT (_log, _offset, received_at, asset), 'new log', ${TRADES * 2} + rowNumberInAllBlocks(), received_at + 600,
      if(endsWith(asset, '-yes'), replaceOne(asset, '-yes', '-no'), replaceOne(asset, '-no', '-yes'))
    FROM (SELECT * FROM trade_records FINAL ORDER BY trade_record_id LIMIT 30)`);
  const { totals: changed } = await expectExact();
  expect(changed).not.toEqual(former);
  expect(await rows(count)).toEqual(before);
  await rollUp(OWNED, 'new log');
  expect((await expectExact()).totals).toEqual(changed);
});

it('PnL says how old the stored sums are, and a trade that is stored later counts at once, also one that was executed earlier', async () => {
  const buy = (record: number, asset: string, price: number, day: number) =>
    host.database.run(`
      INSERT INTO trade_records (_log, _partition, _offset, _index, received_at, account, poll_id, page, pass_began_at, trade_record_id, side, market, asset, quantity, price, fee, executed_at)
      SELECT 'late log', 0, ${record}, 0, now64(6), 'late', 'poll', 0, now64(6), 'late ${record}', 'BUY', 'market of ${asset}', '${asset}', 1, ${price}, 0, '2026-02-0${day} 00:00:00'`);
  const pnl = async () => ({
    assets: await rows(
      `SELECT asset, toString(cost) AS cost, computed_at FROM pnl_by_asset WHERE account = 'late' ORDER BY asset`,
    ),
    sums: await rows(`SELECT toString(cost) AS cost, computed_at FROM pnl_by_account WHERE account = 'late'`),
  });
  const computedAt = async (asset: string) =>
    (await rows(`SELECT computed_at FROM position_states FINAL WHERE account = 'late' AND asset = '${asset}'`))[0]?.[
      'computed_at'
    ];
  await buy(1, 'a', 0.5, 2);
  expect(await pnl()).toEqual({
    assets: [{ asset: 'a', cost: '0.5', computed_at: null }],
    sums: [{ cost: '0.5', computed_at: null }],
  });
  await rollUp(OWNED, 'late log');
  const first = await computedAt('a');
  await buy(2, 'b', 0.25, 2);
  await rollUp(OWNED, 'late log');
  const second = await computedAt('b');
  expect([typeof first, typeof second]).toEqual(['string', 'string']);
  expect(await pnl()).toEqual({
    assets: [
      { asset: 'a', cost: '0.5', computed_at: first },
      { asset: 'b', cost: '0.25', computed_at: second },
    ],
    sums: [{ cost: '0.75', computed_at: first }],
  });
  await buy(3, 'a', 0.125, 1);
  expect(await pnl()).toEqual({
    assets: [
      { asset: 'a', cost: '0.625', computed_at: null },
      { asset: 'b', cost: '0.25', computed_at: second },
    ],
    sums: [{ cost: '0.875', computed_at: second }],
  });
  await rollUp(OWNED, 'late log');
  const third = await computedAt('a');
  expect(third).not.toBe(first);
  expect((await pnl()).assets[0]).toEqual({ asset: 'a', cost: '0.625', computed_at: third });
});
