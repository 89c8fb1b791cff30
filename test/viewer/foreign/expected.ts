/** What a panel shows: the rows of this statement; or why it draws nothing. */
export type Expected = string | { readonly missing: string };

const during = (time: string) => `${time} BETWEEN '2026-11-20 00:00:00' AND '2026-11-20 06:00:00'`;
const tenMinutes = (time: string) => `toString(toStartOfTenMinutes(toDateTime(${time}, 'UTC')))`;
/** A column per value of another; NULL where it has no rows. */
const counts = (column: string, values: readonly string[]) =>
  values.map((value) => `nullIf(countIf(${column} = '${value}'), 0)`).join(', ');

const queries = `foreign_query_log WHERE type = 'QueryFinish' AND ${during('event_time')}`;
const logs = `foreign_otel_logs WHERE ${during('Timestamp')}`;
const spans = `foreign_otel_traces WHERE ServiceName = 'cart' AND ${during('Timestamp')}`;
const requests = `foreign_nginx WHERE ${during('time')}`;
const readings = `foreign_iot WHERE ${during('ts')}`;
const pods = `foreign_k8s WHERE ${during('ts')}`;
const meters = `foreign_energy WHERE ${during('ts')}`;
const attic = `${meters} AND meter = 'attic'`;
const trips = `foreign_taxi WHERE ${during('pickup')}`;
const blog = `foreign_hits WHERE site = 'blog.example' AND ${during('time')}`;
const chosen = `${blog} AND country IN ('de', 'fr')`;
const payments = `foreign_payments WHERE ${during('ts')}`;

const sensor = (name: string) =>
  `SELECT ${tenMinutes('ts')} AS t, avg(temperature), avg(humidity) FROM ${readings} AND sensor = '${name}' GROUP BY t ORDER BY t`;
const cpu = (namespace: string) =>
  `SELECT ${tenMinutes('ts')} AS t, avgOrNullIf(cpu, pod = 'api-${namespace}'), avgOrNullIf(cpu, pod = 'db-${namespace}')
    FROM ${pods} AND namespace = '${namespace}' GROUP BY t ORDER BY t`;

/** By dashboard and panel. */
export const EXPECTED: Readonly<Record<string, Readonly<Record<string, Expected>>>> = {
  'clickhouse-query-analysis': {
    10: `SELECT count() FROM ${queries}`,
    17: `SELECT max(mean) / 1e6 FROM (SELECT avg(memory_usage) AS mean FROM ${queries} GROUP BY toStartOfTenMinutes(event_time))`,
    12: `SELECT 50 * intDiv(query_duration_ms, 50) AS low, low + 50, count() FROM ${queries} GROUP BY low ORDER BY low`,
    8: { missing: 'panels of the type piechart' },
    3: `SELECT ${tenMinutes('event_time')} AS t, ${counts('query_kind', ['Insert', 'Select'])} FROM ${queries} GROUP BY t ORDER BY t`,
    5: `SELECT user, query_kind, max(query_duration_ms) AS d, sum(read_rows) FROM ${queries} GROUP BY user, query_kind ORDER BY d DESC, user`,
  },
  'otel-logs': {
    1: `SELECT ${tenMinutes('Timestamp')} AS t, ${counts('SeverityText', ['ERROR', 'INFO', 'WARN'])} FROM ${logs} GROUP BY t ORDER BY t`,
    2: `SELECT 100 * countIf(SeverityText = 'ERROR') / count() FROM ${logs}`,
    3: `SELECT count() FROM ${logs}`,
    4: `SELECT formatDateTime(Timestamp, '%F %T', 'UTC'), ServiceName, SeverityText, Body, ResourceAttributes['k8s.pod.name'] FROM ${logs} ORDER BY Timestamp DESC LIMIT 15`,
    5: { missing: 'panels of the type logs' },
  },
  'otel-service': {
    1: `SELECT ${tenMinutes('Timestamp')} AS t, count() / 600 FROM ${spans} GROUP BY t ORDER BY t`,
    2: `SELECT ${tenMinutes('Timestamp')} AS t, quantileExact(0.5)(Duration) / 1e6, quantileExact(0.99)(Duration) / 1e6 FROM ${spans} GROUP BY t ORDER BY t`,
    3: `SELECT 100 * countIf(StatusCode = 'Error') / count() FROM ${spans}`,
    4: `SELECT SpanName, count(), max(Duration) / 1e6 AS slowest FROM ${spans} GROUP BY SpanName ORDER BY slowest DESC`,
    5: { missing: 'panels of the type traces' },
  },
  'nginx-access': {
    1: `SELECT count() FROM ${requests}`,
    2: "SELECT count() FROM foreign_nginx WHERE time BETWEEN '2026-11-19 00:00:00' AND '2026-11-19 06:00:00'",
    3: `SELECT sum(bytes) / 1e6 FROM ${requests}`,
    4: `SELECT ${tenMinutes('time')} AS t, ${counts("concat(left(toString(status), 1), 'xx')", ['2xx', '3xx', '4xx', '5xx'])} FROM ${requests} GROUP BY t ORDER BY t`,
    5: `SELECT path, count() AS n FROM ${requests} GROUP BY path ORDER BY n DESC, path LIMIT 5`,
    6: `SELECT path, status, quantileExact(0.95)(request_time) FROM ${requests} AND request_time > 0 GROUP BY path, status ORDER BY path, status`,
    7: { missing: 'panels of the type geomap' },
  },
  'iot-sensors': {
    '1/sensor=s3': sensor('s3'),
    '1/sensor=s2': sensor('s2'),
    '1/sensor=s1': sensor('s1'),
    2: `SELECT avg(humidity) FROM ${readings} AND sensor IN ('s1', 's2', 's3')`,
    3: `SELECT ${tenMinutes('ts')} AS t, if(max(temperature) > 24, 'hot', 'ok') FROM ${readings} AND sensor != 'test' GROUP BY t ORDER BY t`,
    4: `SELECT ${tenMinutes('ts')} AS t, countIf(temperature < 20), countIf(temperature >= 20) FROM ${readings} GROUP BY t ORDER BY t`,
    5: `SELECT sensor, any(site), min(temperature), max(temperature) FROM ${readings} GROUP BY sensor ORDER BY sensor`,
  },
  'kubernetes-pods': {
    '2/namespace=prod': cpu('prod'),
    '3/namespace=prod': `SELECT max(memory) / 1048576 FROM ${pods} AND namespace = 'prod'`,
    '2/namespace=test': cpu('test'),
    '3/namespace=test': `SELECT max(memory) / 1048576 FROM ${pods} AND namespace = 'test'`,
    5: `SELECT sum(restarts) FROM ${pods} GROUP BY namespace ORDER BY namespace`,
    6: `SELECT pod, avg(cpu), sum(restarts) FROM ${pods} GROUP BY pod ORDER BY pod`,
    7: { missing: 'the data source prometheus' },
  },
  'energy-meter': {
    1: `SELECT argMax(kwh, ts) - argMin(kwh, ts) FROM ${attic}`,
    2: `SELECT min(watts), avg(watts), max(watts) FROM ${attic}`,
    3: `SELECT ${tenMinutes('ts')} AS t, max(watts) FROM ${attic} GROUP BY t ORDER BY t`,
    4: `SELECT formatDateTime(ts, '%H:00', 'UTC') AS hour, max(kwh) - min(kwh) FROM ${attic} GROUP BY hour ORDER BY hour`,
    5: `SELECT meter, 0.4 * (max(kwh) - min(kwh)) FROM ${meters} GROUP BY meter ORDER BY meter`,
  },
  'taxi-trips': {
    1: `SELECT count(), toFloat64(sum(fare)) FROM ${trips}`,
    2: `SELECT ${tenMinutes('pickup')} AS t, ${counts('borough', ['Bronx', 'Manhattan', 'Queens', 'Staten Island'])} FROM ${trips} GROUP BY t ORDER BY t`,
    3: `SELECT distance, toFloat64(fare) FROM ${trips} ORDER BY pickup LIMIT 40`,
    4: `SELECT 2 * floor(distance / 2) AS low, low + 2, count() FROM ${trips} GROUP BY low ORDER BY low`,
    5: `SELECT borough, count(), avg(fare) FROM ${trips} GROUP BY borough ORDER BY borough DESC`,
    6: { missing: 'the transformation groupBy' },
  },
  'web-analytics': {
    1: "SELECT 'Visitors of blog.example\\n\\nFrom de, fr'",
    2: `SELECT count(DISTINCT visitor) FROM ${chosen}`,
    3: `SELECT ${tenMinutes('time')} AS t, count(), count(DISTINCT visitor) FROM ${chosen} GROUP BY t ORDER BY t`,
    4: `SELECT page, count() AS n FROM ${chosen} GROUP BY page ORDER BY n DESC, page`,
    5: `SELECT country, count(DISTINCT visitor) FROM ${blog} GROUP BY country ORDER BY country`,
    6: "SELECT count() FROM foreign_hits WHERE site = 'blog.example' AND country IN ('de', 'fr') AND time BETWEEN '2026-11-19 21:00:00' AND '2026-11-20 03:00:00'",
  },
  payments: {
    1: `SELECT countIf(status = 'paid'), countIf(status = 'refunded') FROM ${payments}`,
    2: `SELECT ${tenMinutes('ts')} AS t, sumOrNullIf(amount, currency = 'EUR'), sumOrNullIf(amount, currency = 'USD') FROM ${payments} GROUP BY t ORDER BY t`,
    3: `SELECT ${tenMinutes('ts')} AS t, argMin(rate, ts), max(rate), min(rate), argMax(rate, ts) FROM ${payments} GROUP BY t ORDER BY t`,
    4: `SELECT * FROM (SELECT 'amount' AS field, sum(amount), avg(amount) FROM ${payments} UNION ALL SELECT 'rate', sum(rate), avg(rate) FROM ${payments}) ORDER BY field`,
    5: { missing: 'the calculation uniqueValues' },
  },
};
