import type { SettingName } from '../core/index.js';

/** The settings that every subcommand takes. */
export const COMMON: readonly SettingName[] = ['data', 'logLevel'];
const LONG_RUNNING: readonly SettingName[] = ['metricsPort', 'metricsHost', 'stopWithParent'];

/** Where the exchange is. */
export const EXCHANGE_ADDRESS: readonly SettingName[] = [
  'exchangeUrl',
  'eventUrl',
  'walletUrl',
  'historyUrl',
  'orderUrl',
  'authUrl',
  'chanceUrl',
  'orderBookWsUrl',
  'chanceWsUrl',
  'orderWsUrl',
  'balanceWsUrl',
];
/** Which bus; the embedded log when no brokers are given. */
const BUS_ADDRESS: readonly SettingName[] = [
  'kafkaBrokers',
  'kafkaPrefix',
  'kafkaTls',
  'kafkaTlsCa',
  'kafkaTlsCert',
  'kafkaTlsKey',
  'kafkaSasl',
  'kafkaUser',
  'kafkaPassword',
];
const BUS: readonly SettingName[] = [
  'busPartitions',
  'busRetentionHours',
  'busRetentionBytes',
  ...BUS_ADDRESS,
  'kafkaReplication',
  'kafkaCompression',
];
/** Which ClickHouse; the embedded one when no URL is given. */
export const CLICKHOUSE: readonly SettingName[] = [
  'clickhouseUrl',
  'clickhouseCluster',
  'clickhouseClusterName',
  'clickhouseUser',
  'clickhousePassword',
  'database',
];
const EMBEDDED_CLICKHOUSE: readonly SettingName[] = ['clickhousePort', 'clickhouseNativePort', 'clickhouseMemory'];
const COLLECTING: readonly SettingName[] = [
  'collectorName',
  'requestsPerSecond',
  'requestTimeoutMs',
  'subscriptionsPerConnection',
  'silenceMs',
  'eventsSchedule',
  'referenceSchedule',
  'historySchedule',
  'historyPeriod',
  'historyDays',
  'accountsFile',
  'holdingsSchedule',
  'tradesSchedule',
  'transactionsSchedule',
  'tpslSchedule',
  'statsSchedule',
  'activitySchedule',
  'rawFeeds',
];
const TRANSFORMING: readonly SettingName[] = [
  'clickhouseQuorum',
  'group',
  'kafkaSessionMs',
  'keepBodies',
  'bodyRetentionDays',
  'usernameKey',
  'fsync',
  'batchRows',
  'batchDelayMs',
  'acceptLoss',
];

export const COLLECT: readonly SettingName[] = [
  ...COMMON,
  ...EXCHANGE_ADDRESS,
  ...COLLECTING,
  'shard',
  ...BUS,
  ...LONG_RUNNING,
];
export const TRANSFORM: readonly SettingName[] = [...COMMON, ...CLICKHOUSE, ...TRANSFORMING, ...BUS, ...LONG_RUNNING];
export const MIGRATE: readonly SettingName[] = [...COMMON, ...CLICKHOUSE, 'fsync'];
export const WAREHOUSE: readonly SettingName[] = [...COMMON, 'database', ...EMBEDDED_CLICKHOUSE, ...LONG_RUNNING];
export const SQL: readonly SettingName[] = [...COMMON, ...CLICKHOUSE, 'clickhouseMemory'];
export const STATUS: readonly SettingName[] = [...COMMON, ...CLICKHOUSE, ...BUS_ADDRESS, 'group'];
export const DOCTOR: readonly SettingName[] = [
  ...COMMON,
  ...EXCHANGE_ADDRESS,
  'requestTimeoutMs',
  ...BUS_ADDRESS,
  ...CLICKHOUSE,
  'clickhousePort',
  'metricsPort',
  'metricsHost',
];
/** What the parts of an instance take together. */
export const UP: readonly SettingName[] = [
  ...new Set([
    ...COMMON,
    'metricsPort' as const,
    'metricsHost' as const,
    ...EXCHANGE_ADDRESS,
    ...COLLECTING,
    ...BUS,
    ...CLICKHOUSE,
    ...EMBEDDED_CLICKHOUSE,
    ...TRANSFORMING,
  ]),
];

/** The heading in --help that a setting is listed under. */
export function headingOf(name: SettingName): string {
  if (EXCHANGE_ADDRESS.includes(name)) return 'The exchange that is recorded:';
  if (COLLECTING.includes(name)) return 'What is collected, and when:';
  if (name.startsWith('kafka')) return 'Kafka, in the place of the embedded log:';
  if (BUS.includes(name)) return 'The embedded log:';
  if (TRANSFORMING.includes(name)) return 'The transform worker:';
  return CLICKHOUSE.includes(name) || EMBEDDED_CLICKHOUSE.includes(name) ? 'ClickHouse:' : 'Options:';
}
