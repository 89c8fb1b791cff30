/** A time every `step` seconds from one day before the dashboards' range (2026-11-20, 0 to 6 o'clock UTC) to two hours after it. */
const times = (step: number, rows = Math.floor((32 * 3600) / step)) =>
  `SELECT toDateTime('2026-11-19 00:00:00', 'UTC') + ${step} * number AS at, number AS n FROM numbers(${rows})`;

const table = (name: string, columns: string, select: string, step: number) => [
  `CREATE TABLE foreign_${name} (${columns}) ENGINE = MergeTree ORDER BY tuple()`,
  `INSERT INTO foreign_${name} SELECT ${select} FROM (${times(step)})`,
];

/** The tables of the dashboards, with data that is the same in every run. */
export const TABLES: readonly string[] = [
  ...table(
    'query_log',
    "event_time DateTime('UTC'), type Enum8('QueryStart' = 1, 'QueryFinish' = 2), user String, query_kind LowCardinality(String), query_duration_ms UInt64, read_rows UInt64, memory_usage UInt64",
    "at, if(n % 4 = 0, 'QueryStart', 'QueryFinish'), ['default', 'etl', 'it''s'][n % 3 + 1], ['Select', 'Insert'][n % 2 + 1], n % 311, n % 1000, 1000000 + n % 500 * 1000",
    30,
  ),
  ...table(
    'otel_logs',
    'Timestamp DateTime64(9), ServiceName LowCardinality(String), SeverityText LowCardinality(String), Body String, ResourceAttributes Map(LowCardinality(String), String)',
    "toDateTime64(at, 9, 'UTC'), ['cart', 'mail', 'web'][n % 3 + 1], if(n % 17 = 0, 'ERROR', if(n % 5 = 0, 'WARN', 'INFO')), concat('line ', toString(n), if(n % 7 = 0, ' timeout', '')), map('k8s.pod.name', concat('pod-', toString(n % 4)))",
    45,
  ),
  ...table(
    'otel_traces',
    'Timestamp DateTime64(9), TraceId String, ServiceName LowCardinality(String), SpanName LowCardinality(String), Duration UInt64, StatusCode LowCardinality(String)',
    "toDateTime64(at, 9, 'UTC'), hex(n), ['cart', 'web'][n % 2 + 1], ['GET /', 'POST /buy', 'a&b'][n % 3 + 1], 1000000 + n % 977 * 10000, if(n % 13 = 0, 'Error', 'Unset')",
    40,
  ),
  ...table(
    'nginx',
    "time DateTime('UTC'), path String, status UInt16, bytes UInt64, request_time Float64, country LowCardinality(String)",
    "at, ['/', '/login', '/api', '/img/a.png', '/b\\'c', '/rare'][n % 11 % 6 + 1], [200, 200, 200, 304, 404, 500][n % 13 % 6 + 1], n % 9001, n % 100 / 1000, ['de', 'fr'][n % 2 + 1]",
    20,
  ),
  ...table(
    'iot',
    "ts DateTime('UTC'), sensor LowCardinality(String), site String, temperature Float64, humidity Float64",
    "at, ['s1', 's2', 's3', 'test'][n % 4 + 1], ['roof', 'cellar'][n % 2 + 1], 20 + 5 * sin(n / 60) + n % 4, 40 + n % 30",
    60,
  ),
  ...table(
    'k8s',
    "ts DateTime('UTC'), namespace LowCardinality(String), pod LowCardinality(String), cpu Float64, memory UInt64, restarts UInt8",
    "at, ['prod', 'test'][n % 2 + 1], concat(['api', 'db'][intDiv(n, 2) % 2 + 1], if(n % 2 = 0, '-prod', '-test')), n % 50 / 100, 1048576 * (100 + n % 77), n % 97 = 0",
    60,
  ),
  ...table(
    'energy',
    "ts DateTime('UTC'), meter LowCardinality(String), kwh Float64, watts Float64",
    "at, ['attic', 'house'][n % 2 + 1], n / 50, 300 + n % 120",
    60,
  ),
  ...table(
    'taxi',
    "pickup DateTime('UTC'), borough LowCardinality(String), distance Float64, fare Decimal(10, 2)",
    "at, ['Bronx', 'Queens', 'Staten Island', 'Manhattan'][n % 4 + 1], n % 37 / 2, 3 + n % 41 * 1.25",
    90,
  ),
  ...table(
    'hits',
    "time DateTime('UTC'), site String, page String, country LowCardinality(String), visitor UInt64",
    "at, ['blog.example', 'shop.example'][n % 2 + 1], ['/', '/about', '/post'][n % 5 % 3 + 1], ['de', 'fr', 'pl'][n % 7 % 3 + 1], n % 61",
    40,
  ),
  ...table(
    'payments',
    "ts DateTime('UTC'), day Date, currency LowCardinality(String), status LowCardinality(String), amount Float64, rate Float64",
    "at, toDate(at, 'UTC'), ['EUR', 'USD'][n % 2 + 1], ['paid', 'paid', 'refunded'][n % 3 + 1], 1 + n % 19, 1.05 + sin(n / 40) / 100",
    60,
  ),
];
