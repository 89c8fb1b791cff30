import { rollUpNextBlocks, rollUpNextDay, rollUpNextTrades } from '../../transforms/index.js';
import { Connection } from '../../warehouse/index.js';
import { compare, type Difference } from '../pipeline/ledger.js';
import type { Rig } from '../pipeline/rig.js';

/** More than any offset: everything is written. */
const ALL_COMMITTED = 2 ** 48;

/** For every table of aggregates, what it holds, and the same from the rows that it aggregates. */
const ROLLUPS: Readonly<Record<string, { readonly held: string; readonly wanted: string }>> = {
  price_hours: {
    held: `SELECT toString((market, begins_at, argMin(price_hours.open, first_tick), max(price_hours.high), min(price_hours.low), argMax(price_hours.close, last_tick), sum(price_hours.ticks))) AS row
      FROM price_hours WHERE rollup_id IN (SELECT rollup_id FROM price_blocks FINAL WHERE rollup_id != 0) GROUP BY market, begins_at`,
    wanted: `SELECT toString((market, toDateTime64(toStartOfHour(received_at), 6, 'UTC') AS hour, argMin(toFloat64(last), (received_at, _offset, _index)), max(toFloat64(last)), min(toFloat64(last)), argMax(toFloat64(last), (received_at, _offset, _index)), count())) AS row
      FROM price_ticks WHERE NOT repeated AND NOT is_resolution GROUP BY market, hour`,
  },
  price_days: {
    held: `SELECT toString((market, begins_at, argMin(price_days.open, first_tick), max(price_days.high), min(price_days.low), argMax(price_days.close, last_tick), sum(price_days.ticks))) AS row
      FROM price_days WHERE rollup_id IN (SELECT days_id FROM price_blocks FINAL WHERE days_id != 0) GROUP BY market, begins_at`,
    wanted: `SELECT toString((market, toDateTime64(toStartOfDay(received_at), 6, 'UTC') AS day, argMin(toFloat64(last), (received_at, _offset, _index)), max(toFloat64(last)), min(toFloat64(last)), argMax(toFloat64(last), (received_at, _offset, _index)), count())) AS row
      FROM price_ticks WHERE NOT repeated AND NOT is_resolution GROUP BY market, day`,
  },
  volume_days: {
    held: `SELECT toString((executed_day, market, trades, shares, volume)) AS row
      FROM volume_days WHERE (executed_day, rollup_id) IN (SELECT executed_day, rollup_id FROM volume_rollups FINAL)`,
    wanted: `SELECT toString((executed_day, market, count(), sum(quantity), CAST(sum(toDecimal256(quantity, 12) * toDecimal256(price, 12)), 'Decimal(38, 12)'))) AS row
      FROM activity_records FINAL WHERE executed_day IN (SELECT executed_day FROM volume_rollups) GROUP BY executed_day, market`,
  },
  position_states: {
    held: `SELECT toString((account, asset, trades, bought_shares, sold_shares, fees, average_cost, fifo_cost)) AS row FROM position_states FINAL WHERE trades > 0`,
    wanted: `SELECT toString((account, asset, trades, bought_shares, sold_shares, fees, average_cost, fifo_cost)) AS row FROM position_costs(period_seconds = 0)`,
  },
  own_volumes: {
    held: `SELECT toString((market, one.executed_day, one.asset, one.trades, one.shares, one.value)) AS row FROM own_volumes FINAL ARRAY JOIN sums AS one`,
    wanted: `SELECT toString((market, toDate(executed_at) AS day, asset, count(), sum(quantity), sum(toDecimal256(quantity, 12) * toDecimal256(price, 12)))) AS row
      FROM trade_records FINAL WHERE trade_id NOT IN (SELECT trade_id FROM trade_records FINAL WHERE trade_id != '' GROUP BY trade_id HAVING count() > 1) GROUP BY market, day, asset`,
  },
};

/** Aggregates what is not aggregated yet, and compares each table of aggregates with the rows that it aggregates. */
export async function compareRollups(rig: Rig): Promise<Map<string, Difference>> {
  const endpoint = await rig.clickhouse();
  const connection = new Connection({ endpoint: endpoint.owner, database: 'chancery', application: 'test' });
  try {
    await aggregateAll(rig, connection);
  } finally {
    await connection.close();
  }
  const differences = new Map<string, Difference>();
  for (const [table, { held, wanted }] of Object.entries(ROLLUPS)) {
    const [found, expected] = [await texts(rig, held), await texts(rig, wanted)];
    differences.set(table, compare(found, new Set(expected)));
  }
  return differences;
}

async function aggregateAll(rig: Rig, connection: Connection): Promise<void> {
  const signal = new AbortController().signal;
  const partitionsOf = (table: string) =>
    rig.rows<{ log: string; partition: number }>(
      `SELECT DISTINCT toString(_log) AS log, _partition AS partition FROM ${table}`,
    );
  const progress = { committed: ALL_COMMITTED };
  for (const source of await partitionsOf('price_ticks')) {
    while (await rollUpNextBlocks({ ...source, shards: [connection] }, progress, signal));
  }
  for (const source of await partitionsOf('activity_records')) {
    while (await rollUpNextDay({ ...source, shards: [connection] }, progress, signal));
  }
  const trades = await partitionsOf('trade_records');
  for (const source of trades) {
    const owned = new Map(trades.map(({ partition }) => [partition, ALL_COMMITTED]));
    while (await rollUpNextTrades({ ...source, shards: [connection] }, { ...progress, owned }, signal));
  }
}

const texts = async (rig: Rig, sql: string): Promise<string[]> =>
  (await rig.rows<{ row: string }>(sql)).map(({ row }) => row);
