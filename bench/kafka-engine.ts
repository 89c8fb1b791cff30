import type { Connection } from '../warehouse/index.js';

/** Options of ClickHouse's Kafka engine, tuned for the most rows per second. */
export interface EngineOptions {
  readonly broker: string;
  readonly topic: string;
  readonly group: string;
  readonly fsync: boolean;
  /** Maximum number of records of a block. */
  readonly blockRecords: number;
  readonly stores: EngineTables;
}

/**
 * `ticks`: only the rows of `price_ticks`. `all tables`: also those that a worker writes into `raw_records` without bodies, and of
 * `price_states` the times.
 */
export type EngineTables = 'ticks' | 'all tables';

const TABLES = { price_ticks: 'engine_ticks', raw_records: 'engine_raw', price_states: 'engine_states' };
const VIEWS = ['engine_ticks_view', 'engine_raw_view', 'engine_states_view'];

/** Of `price_states` the engine does not store the last tick. */
const STATE_COLUMNS = `(
  market LowCardinality(String),
  first_received_at SimpleAggregateFunction(min, DateTime64(6, 'UTC')),
  last_received_at SimpleAggregateFunction(max, DateTime64(6, 'UTC'))
)`;

/** The tables that the engine fills, by the name of the worker's table. */
export function engineTables(stores: EngineTables): Partial<typeof TABLES> {
  return stores === 'ticks' ? { price_ticks: TABLES.price_ticks } : TABLES;
}

/** The fields of a record that become ticks, as parsed by the view. */
const FRAME =
  'Tuple(at Int64, body Tuple(t String, e String, d Array(Tuple(o String, c Float64, b Float64, a Float64))))';

/** The fields of a record that become a row of `raw_records`. */
const ENVELOPE = 'Tuple(sid String, n UInt64, at Int64, kind String)';

/**
 * ClickHouse's own Kafka engine instead of a worker: materialized views write the same rows into equal tables, without the
 * index that a worker leaves to merges. It does not
 * validate, writes no dead letters, and guarantees at-least-once delivery.
 * @param database holds the tables of the migrations
 */
export async function createEngine(connection: Connection, options: EngineOptions): Promise<void> {
  const { broker, topic, group, fsync, blockRecords, stores } = options;
  const { database } = connection;
  for (const [original, table] of Object.entries(TABLES)) {
    const columns =
      original === 'price_states'
        ? `${STATE_COLUMNS} ENGINE = AggregatingMergeTree ORDER BY market`
        : `AS ${database}.${original}`;
    await connection.command(`CREATE TABLE ${database}.${table} ${columns}`, {
      settings: { allow_suspicious_low_cardinality_types: 1 },
    });
    await connection.command(`
      ALTER TABLE ${database}.${table} MODIFY SETTING
        fsync_after_insert = ${Number(fsync)}, fsync_part_directory = ${Number(fsync)}`);
  }
  await connection.command(`
    CREATE TABLE ${database}.engine_queue (record String)
    ENGINE = Kafka
    SETTINGS kafka_broker_list = '${broker}', kafka_topic_list = '${topic}', kafka_group_name = '${group}',
      kafka_format = 'RawBLOB', kafka_num_consumers = 2, kafka_thread_per_consumer = 1,
      kafka_max_block_size = ${blockRecords}, kafka_poll_max_batch_size = 65536, kafka_flush_interval_ms = 1000`);
  // A worker leaves this index to merges; the engine would build it with every insert.
  await connection.command(`ALTER TABLE ${database}.${TABLES.price_ticks} DROP INDEX events`);
  if (stores === 'all tables') {
    await connection.command(`
      CREATE MATERIALIZED VIEW ${database}.engine_states_view TO ${database}.engine_states AS
      SELECT market, min(received_at) AS first_received_at, max(received_at) AS last_received_at
      FROM ${database}.engine_ticks GROUP BY market`);
  }
}

/**
 * Creates the materialized views that read from the queue. The first one starts the engine; it joins its consumer group, which
 * takes longer than creating the second one.
 */
export async function startEngine(connection: Connection, stores: EngineTables): Promise<void> {
  const { database } = connection;
  if (stores === 'all tables') {
    await connection.command(`
      CREATE MATERIALIZED VIEW ${database}.engine_raw_view TO ${database}.engine_raw AS
      WITH JSONExtract(record, '${ENVELOPE}') AS r
      SELECT
        _topic AS \`_topic\`, 'engine' AS \`_log\`, toUInt32(_partition) AS \`_partition\`, toUInt64(_offset) AS \`_offset\`,
        0 AS \`_index\`, fromUnixTimestamp64Micro(r.at, 'UTC') AS received_at, r.sid AS session_id, r.n AS sequence, r.kind AS kind,
        'json' AS encoding, 0 AS piece, 1 AS pieces, length(JSONExtractRaw(record, 'body')) AS body_bytes,
        toDateTime(received_at) AS body_expires_at, '' AS request, '' AS body
      FROM ${database}.engine_queue`);
  }
  await connection.command(`
    CREATE MATERIALIZED VIEW ${database}.engine_ticks_view TO ${database}.engine_ticks AS
    WITH JSONExtract(record, '${FRAME}') AS r
    SELECT
      'engine' AS \`_log\`, toUInt32(_partition) AS \`_partition\`, toUInt64(_offset) AS \`_offset\`, i - 1 AS \`_index\`,
      fromUnixTimestamp64Micro(intDiv(r.at, 1000) * 1000, 'UTC') AS received_at,
      r.body.e AS event, entry.o AS market, entry.c AS last,
      nullIf(nullIf(entry.b, 0), 1) AS bid, nullIf(nullIf(entry.a, 1), 0) AS ask,
      if(r.body.t = 'PRICES_DATA', 'snapshot', 'delta') AS source
    FROM ${database}.engine_queue
    ARRAY JOIN r.body.d AS entry, arrayEnumerate(r.body.d) AS i`);
}

/** Stops the engine; its tables remain. Dropping the queue first waits until what was read is in all of them. */
export async function stopEngine(connection: Connection): Promise<void> {
  for (const table of ['engine_queue', ...VIEWS]) {
    await connection.command(`DROP TABLE IF EXISTS ${connection.database}.${table} SYNC`);
  }
}
