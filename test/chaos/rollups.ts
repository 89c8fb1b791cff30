import { rollUpNextBlocks, rollUpNextDay, rollUpNextTrades } from '../../transforms/index.js';
import { Connection } from '../../warehouse/index.js';
import { compare, type Difference } from '../pipeline/ledger.js';
import type { Rig } from '../pipeline/rig.js';

/** More than any offset: everything is written. */
const ALL_COMMITTED = 2 ** 48;

/** Of ticks, in the order of their rows. */
const ORDER = '(received_at, _offset, _index)';
const MID = 'if(bid <= ask, (toFloat64(bid) + toFloat64(ask)) / 2, NULL)';

/** Prices of markets in periods: what a table holds of the aggregations with an ID in price_blocks, and the same from the ticks. */
const bars = (table: string, id: string, start: string): { readonly held: string; readonly wanted: string } => ({
  held: `SELECT toString((market, begins_at, argMin(bars.open, first_tick), max(bars.high), min(bars.low), argMax(bars.close, last_tick),
        argMax(tuple(bars.closing_bid), last_tick).1, argMax(tuple(bars.closing_ask), last_tick).1,
        argMinIf(bars.mid_open, first_mid_tick, bars.mid_open IS NOT NULL), max(bars.mid_high), min(bars.mid_low),
        argMaxIf(bars.mid_close, last_mid_tick, bars.mid_close IS NOT NULL), sum(bars.ticks))) AS row
      FROM ${table} AS bars WHERE rollup_id IN (SELECT ${id} FROM price_blocks FINAL WHERE ${id} != 0) GROUP BY market, begins_at`,
  wanted: `SELECT toString((market, toDateTime64(${start}(received_at), 6, 'UTC') AS begins_at, argMin(toFloat64(last), ${ORDER}), max(toFloat64(last)), min(toFloat64(last)), argMax(toFloat64(last), ${ORDER}),
        argMax(tuple(toFloat64(bid)), ${ORDER}).1, argMax(tuple(toFloat64(ask)), ${ORDER}).1,
        argMinIf(${MID}, ${ORDER}, ${MID} IS NOT NULL), max(${MID}), min(${MID}), argMaxIf(${MID}, ${ORDER}, ${MID} IS NOT NULL), count())) AS row
      FROM price_ticks WHERE NOT repeated AND NOT is_resolution GROUP BY market, begins_at`,
});

/** For every table of aggregates, what it holds, and the same from the rows that it aggregates. */
const ROLLUPS: Readonly<Record<string, { readonly held: string; readonly wanted: string }>> = {
  price_hours: bars('price_hours', 'rollup_id', 'toStartOfHour'),
  price_days: bars('price_days', 'days_id', 'toStartOfDay'),
  volume_days: {
    held: `SELECT toString((executed_day, market, trades, shares, volume, yes_value, unpriced_trades, unpriced_shares)) AS row
      FROM volume_days WHERE (executed_day, rollup_id) IN (SELECT executed_day, rollup_id FROM volume_rollups FINAL)`,
    wanted: `SELECT toString((toDate(ifNull(executed_at, toDateTime64(0, 6, 'UTC'))) AS day, market, count(), sum(quantity),
        CAST(sum(toDecimal256(quantity, 12) * toDecimal256(price, 12)), 'Decimal(38, 12)'),
        CAST(sumIf(toDecimal256(quantity, 12) * toDecimal256(assumeNotNull(yes_price), 12), yes_price IS NOT NULL), 'Decimal(38, 12)'),
        countIf(yes_price IS NULL), sumIf(quantity, yes_price IS NULL))) AS row
      FROM activity WHERE day IN (SELECT executed_day FROM volume_rollups) GROUP BY day, market`,
  },
  position_states: {
    held: `SELECT toString((account, asset, day.1, day.2, day.4, day.5, day.6, day.7, day.8, day.9, day.10, day.11)) AS row FROM position_states FINAL ARRAY JOIN days AS day`,
    // Hours are computed from the trades.
    wanted: `SELECT toString((account, asset, toDateTime64(toStartOfDay(begins_at), 6, 'UTC') AS day, trades, bought_shares, bought_value, sold_shares, sold_value, fees, cost, fifo_cost, oversold_shares)) AS row
      FROM position_costs(period_seconds = 3600) ORDER BY begins_at DESC LIMIT 1 BY account, asset, day`,
  },
  own_volumes: {
    held: `SELECT toString((market, one.executed_day, one.asset, one.trades, one.shares, one.value)) AS row FROM own_volumes FINAL ARRAY JOIN sums AS one`,
    wanted: `SELECT toString((market, toDate(executed_at) AS day, asset, count(), sum(quantity), sum(toDecimal256(quantity, 12) * toDecimal256(price, 12)))) AS row
      FROM trade_records FINAL WHERE trade_id NOT IN (SELECT trade_id FROM trade_records FINAL WHERE trade_id != '' GROUP BY trade_id HAVING count() > 1) GROUP BY market, day, asset`,
  },
  'own_volumes.shared_fills': {
    held: 'SELECT toString((market, arraySort(shared_fills))) AS row FROM own_volumes FINAL',
    wanted: `SELECT toString((market, arraySort(groupArrayIf(cityHash64(trade_id), sides > 1)))) AS row
      FROM (SELECT market, trade_id, if(trade_id = '', 1, count()) AS sides FROM trade_records FINAL GROUP BY market, trade_id) GROUP BY market`,
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
