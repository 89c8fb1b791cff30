import { afterAll, beforeAll, expect, it } from 'vitest';
import { rollUpNextDay } from '../../transforms/worker/roll-up-days.js';
import { Connection } from '../../warehouse/index.js';
import { sqlFolder } from '../../warehouse/schema/migrate.js';
import { readRollup } from '../../warehouse/schema/sql-files.js';
import { useDatabase } from '../support/database.js';

const host = useDatabase({ migrated: true });
const signal = new AbortController().signal;
let connection: Connection;
const ITEMS = 20_000;
const DAYS = 5;

const rows = (sql: string) => host.database.rows<Record<string, unknown>>(sql, 'reader');

/** Items `from` to `to` in the order of offsets: of five days that are over, of one that is not, and without a time. */
const insert = (from: number, to: number, { log = 'log', partition = 0, offset = '_number', seen = 0 } = {}) =>
  host.database.run(`
    INSERT INTO activity_records (_log, _partition, _offset, _index, received_at, poll_id, trade_record_id, user_id, market, position, side,
      quantity, price, executed_at, is_primary)
    WITH number + ${from} AS _number, cityHash64(_number, 'a') AS a, cityHash64(_number, 'b') AS b
    SELECT '${log}', ${partition}, ${offset}, 0, now64(6) + ${seen}, 'poll', concat('item-', toString(_number)), 'user',
      concat('market-', toString(a % 7)), if(b % 10 = 0, '', 'YES'), 'BUY', toDecimal128(1 + b % 1000003, 12) / 1000003, toDecimal128(1 + a % 99, 12) / 100,
      multiIf(a % 97 = 0, NULL, a % 11 = 0, toDateTime64(now('UTC'), 6, 'UTC') + 86400,
        toDateTime64(toStartOfDay(now('UTC')) - 172801, 6, 'UTC') - b % (86400 * ${DAYS})),
      if(b % 10 = 0, NULL, a % 3 != 0)
    FROM numbers(${to - from})`);

const volumes = () =>
  rows(`SELECT day, market, trades, shares, volume, yes_value, unpriced_trades, unpriced_shares
        FROM volume_by_market_and_day WHERE scope = 'all' ORDER BY day, market`);
/** The same of the definition, from the items alone, with other functions than the view. */
const volumesOfItems = () =>
  rows(`
    SELECT day, market, length(items) AS trades, arraySum(items.1) AS shares,
      CAST(arraySum(i -> toDecimal256(i.1, 12) * toDecimal256(i.2, 12), items), 'Decimal(38, 12)') AS volume,
      CAST(arraySum(i -> toDecimal256(i.1, 12) * toDecimal256(ifNull(i.3, 0), 12), items), 'Decimal(38, 12)') AS yes_value,
      length(arrayFilter(i -> i.3 IS NULL, items)) AS unpriced_trades,
      arraySum(arrayFilter(i -> i.3 IS NULL, items).1) AS unpriced_shares
    FROM (
      SELECT toDate(executed_at) AS day, market, groupArray((quantity, price, yes_price)) AS items FROM activity GROUP BY day, market
    ) ORDER BY day, market`);
const heldDays = async () => {
  const held = await rows(`SELECT uniqExact(executed_day) AS days FROM volume_rollups`);
  return Number(held[0]?.days);
};

const rollUp = async (committed: number, { log = 'log', partition = 0 } = {}) => {
  let runs = 1;
  for (; await rollUpNextDay({ log, partition, shards: [connection] }, { committed }, signal); runs++);
  return runs;
};

beforeAll(async () => {
  const { owner, name } = host.database;
  connection = new Connection({ endpoint: owner, database: name, application: 'test' });
  await insert(0, ITEMS);
});

afterAll(() => connection.close());

it('volumes of days are those of the items, whatever volume_days holds', async () => {
  const before = await volumes();
  expect(before).toEqual(await volumesOfItems());
  expect(before.length).toBeGreaterThan(7 * DAYS);

  // Nothing of a day of which a record is not committed, or is in another partition of the same log.
  await rollUp(10);
  await rollUp(ITEMS, { partition: 1 });
  expect(await heldDays()).toBe(0);

  await rollUp(ITEMS);
  // Not of the day that is not over, nor of the items without a time.
  expect(await heldDays()).toBe(DAYS);
  expect(await volumes()).toEqual(before);
  // The sums of the days that are held do not come from the items.
  const [{ day } = {}] = await rows('SELECT toString(min(executed_day)) AS day FROM volume_rollups');
  await host.database.run(
    `ALTER TABLE activity_records DELETE WHERE executed_day = '${day}' SETTINGS mutations_sync = 2`,
  );
  expect(await volumes()).toEqual(before);
});

it('an item that arrives later is in the volume at once, also when it was listed before', async () => {
  await insert(ITEMS, ITEMS + 500);
  const more = await volumes();
  expect(more).toEqual(await volumesOfItems());
  await insert(ITEMS, ITEMS + 500, { offset: '_number + 1000', seen: 60 });
  expect(await volumes()).toEqual(more);
  await rollUp(2 * ITEMS);
  expect(await volumes()).toEqual(more);

  await insert(ITEMS + 500, ITEMS + 700, { log: 'new log' });
  const expected = await volumesOfItems();
  expect(await volumes()).toEqual(expected);
  expect(expected).not.toEqual(more);
  await rollUp(2 * ITEMS, { log: 'new log' });
  expect(await volumes()).toEqual(expected);
});

it('sums that are inserted and not published, as after a kill, or published twice, count once', async () => {
  await insert(ITEMS + 700, ITEMS + 800, { log: 'new log' });
  const expected = await volumesOfItems();
  const [{ day } = {}] = await rows('SELECT toString(max(executed_day)) AS day FROM volume_rollups');
  const [{ fingerprint } = {}] = await rows(
    `SELECT toString(fingerprint) AS fingerprint FROM (${readRollup(
      sqlFolder(),
      'open_volume_days',
      connection.database,
    ).replaceAll(/\{(log|partition|committed):(\w+)\}/g, (_, name) =>
      name === 'log' ? "'new log'" : name === 'partition' ? '0' : '1000000',
    )}) WHERE day = '${day}'`,
  );
  for (const run of [1, 2]) {
    await connection.command(readRollup(sqlFolder(), 'volume_days', connection.database), { params: { day, run } });
    expect(await volumes()).toEqual(expected);
  }
  const publish = readRollup(sqlFolder(), 'volume_rollups', connection.database);
  await Promise.all([1, 2].map((run) => connection.command(publish, { params: { day, run, fingerprint } })));
  expect(await volumes()).toEqual(expected);
});
