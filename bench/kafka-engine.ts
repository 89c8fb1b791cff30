import type { Connection } from '../warehouse/index.js';

/** How ClickHouse reads a topic by itself, tuned for the most rows per second. */
export interface EngineOptions {
  readonly broker: string;
  readonly topic: string;
  readonly group: string;
  readonly fsync: boolean;
}

/** What of a record becomes rows. It is parsed by the view. */
const RECORD =
  'Tuple(at Int64, body Tuple(t String, e String, d Array(Tuple(o String, c Float64, b Float64, a Float64))))';

/**
 * ClickHouse's own Kafka engine in the worker's place: the same rows in a table like `price_ticks`, made by a
 * materialized view. It keeps no envelopes and no dead letters, and promises at least once.
 * @param database holds `price_ticks` after the migrations
 */
export async function createEngine(connection: Connection, options: EngineOptions): Promise<void> {
  const { broker, topic, group, fsync } = options;
  const { database } = connection;
  await connection.command(`CREATE TABLE ${database}.engine_ticks AS ${database}.price_ticks`, {
    settings: { allow_suspicious_low_cardinality_types: 1 },
  });
  await connection.command(`
    ALTER TABLE ${database}.engine_ticks MODIFY SETTING
      fsync_after_insert = ${Number(fsync)}, fsync_part_directory = ${Number(fsync)}`);
  await connection.command(`
    CREATE TABLE ${database}.engine_queue (record String)
    ENGINE = Kafka
    SETTINGS kafka_broker_list = '${broker}', kafka_topic_list = '${topic}', kafka_group_name = '${group}',
      kafka_format = 'RawBLOB', kafka_num_consumers = 2, kafka_thread_per_consumer = 1,
      kafka_max_block_size = 262144, kafka_poll_max_batch_size = 65536, kafka_flush_interval_ms = 1000`);
}

/** Attaches the materialized view, from which moment the engine reads. */
export async function startEngine(connection: Connection): Promise<void> {
  const { database } = connection;
  await connection.command(`
    CREATE MATERIALIZED VIEW ${database}.engine_view TO ${database}.engine_ticks AS
    WITH JSONExtract(record, '${RECORD}') AS r
    SELECT
      'engine' AS \`_log\`, toUInt32(_partition) AS \`_partition\`, toUInt64(_offset) AS \`_offset\`, i - 1 AS \`_index\`,
      fromUnixTimestamp64Micro(intDiv(r.at, 1000) * 1000, 'UTC') AS received_at,
      r.body.e AS event, entry.o AS market, entry.c AS last,
      nullIf(nullIf(entry.b, 0), 1) AS bid, nullIf(nullIf(entry.a, 1), 0) AS ask,
      if(r.body.t = 'PRICES_DATA', 'snapshot', 'delta') AS source
    FROM ${database}.engine_queue
    ARRAY JOIN r.body.d AS entry, arrayEnumerate(r.body.d) AS i`);
}

/** Ends its reading, and removes what it made. */
export async function dropEngine(connection: Connection): Promise<void> {
  for (const table of ['engine_view', 'engine_queue', 'engine_ticks']) {
    await connection.command(`DROP TABLE IF EXISTS ${connection.database}.${table} SYNC`);
  }
}
