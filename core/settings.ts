import { z } from 'zod';
import { clusterNodesSchema } from './cluster-nodes.js';
import { DEFAULT_PORTS } from './default-ports.js';

/**
 * Every setting of Chancery: its type, default, unit and meaning in one place. A setting `exchangeUrl` is the flag
 * `--exchange-url`, the environment variable `CHANCERY_EXCHANGE_URL` and the key `exchangeUrl` of chancery.config.json.
 */
export interface Setting<T> {
  readonly schema: z.ZodType<T>;
  readonly default: T;
  /** One line for --help; names the unit. */
  readonly help: string;
  /** What the value is called in --help, like `MS`. Absent for switches. */
  readonly placeholder?: string;
  /** Further environment variables that are read, after the regular one. */
  readonly env?: readonly string[];
}

const setting = <T>(s: Setting<T>): Setting<T> => s;
const text = z.string().min(1);
const port = z.coerce.number().int().min(0).max(65535);
const count = z.coerce.number().int().min(1);
const flag = z.union([z.boolean(), z.stringbool()]).transform(Boolean);
const millis = z.coerce.number().min(1);
const url = z.url({ protocol: /^https?$/ });

export const SETTINGS = {
  data: setting({ schema: text, default: './data', placeholder: 'DIR', help: 'data folder; it names the instance' }),
  logLevel: setting({
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
    default: 'info',
    placeholder: 'LEVEL',
    help: 'least severe log level that is written',
  }),
  metricsPort: setting({
    schema: port,
    default: 0,
    placeholder: 'PORT',
    help: 'port of /healthz and /metrics; 0 takes a free one',
  }),
  metricsHost: setting({
    schema: text,
    default: '127.0.0.1',
    placeholder: 'HOST',
    help: 'address that /healthz and /metrics listen on; 0.0.0.0 lets other machines read them',
  }),
  stopWithParent: setting({
    schema: flag,
    default: false,
    help: 'end when standard input ends; `chancery up` starts its parts with it',
  }),

  // The exchange that is recorded.
  exchangeUrl: setting({
    schema: url,
    default: `http://127.0.0.1:${DEFAULT_PORTS.exchange}`,
    placeholder: 'URL',
    help: 'base URL of the exchange',
  }),
  eventUrl: setting({
    schema: url.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'host of events, categories and tags, when it is not the base URL',
  }),
  walletUrl: setting({
    schema: url.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'host of coins, balances and transactions, when it is not the base URL',
  }),
  historyUrl: setting({
    schema: url.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'host of orders, trades, positions and activity as history, when it is not the base URL',
  }),
  orderUrl: setting({
    schema: url.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'host of TP/SL orders, when it is not the base URL',
  }),
  authUrl: setting({
    schema: url.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'host of logins, when it is not the base URL',
  }),
  chanceUrl: setting({
    schema: url.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'host of chance history, when it is not the base URL',
  }),
  orderBookWsUrl: setting({
    schema: text.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'order book stream, when it is not on the base URL',
  }),
  chanceWsUrl: setting({
    schema: text.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'chance stream, when it is not on the base URL',
  }),
  orderWsUrl: setting({
    schema: text.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'order updates stream, when it is not on the base URL',
  }),
  balanceWsUrl: setting({
    schema: text.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'balance stream, when it is not on the base URL',
  }),
  requestsPerSecond: setting({
    schema: z.coerce.number().positive(),
    default: 20,
    placeholder: 'N',
    help: 'polled requests per second and host, at most',
  }),
  requestTimeoutMs: setting({
    schema: millis,
    default: 15_000,
    placeholder: 'MS',
    help: 'longest wait for an answer, milliseconds',
  }),

  // Collectors.
  collectorName: setting({
    schema: text,
    default: 'collector',
    placeholder: 'NAME',
    help: 'name of this collector in marks',
  }),
  subscriptionsPerConnection: setting({
    schema: count,
    default: 200,
    placeholder: 'N',
    help: 'events subscribed on one WebSocket connection, at most',
  }),
  silenceMs: setting({
    schema: millis,
    default: 20_000,
    placeholder: 'MS',
    help: 'silence after which a subscription is probed, milliseconds',
  }),
  eventsSchedule: setting({
    schema: text,
    default: '*/10 * * * * *',
    placeholder: 'CRON',
    help: 'when event search is polled',
  }),
  referenceSchedule: setting({
    schema: text,
    default: '0 */5 * * * *',
    placeholder: 'CRON',
    help: 'when categories, tags and coins are polled',
  }),
  historySchedule: setting({
    schema: text,
    default: '30 */10 * * * *',
    placeholder: 'CRON',
    help: 'when chance history is polled',
  }),
  historyPeriod: setting({
    schema: text,
    default: '1s',
    placeholder: 'CODE',
    help: 'period code of polled chance history',
  }),
  historyDays: setting({
    schema: z.coerce.number().positive(),
    default: 30,
    placeholder: 'DAYS',
    help: 'how far back chance history is fetched for a market seen for the first time, days',
  }),

  // Accounts of the exchange. Their credentials are no settings: see core/accounts.ts.
  accountsFile: setting({
    schema: text.optional(),
    default: undefined,
    placeholder: 'FILE',
    help: 'JSON file (mode 0600) with credentials of the accounts that are recorded too',
  }),
  holdingsSchedule: setting({
    schema: text,
    default: '*/10 * * * * *',
    placeholder: 'CRON',
    help: 'when balances, positions and active orders of the accounts are polled',
  }),
  tradesSchedule: setting({
    schema: text,
    default: '*/10 * * * * *',
    placeholder: 'CRON',
    help: 'when orders and trades of the accounts are polled',
  }),
  transactionsSchedule: setting({
    schema: text,
    default: '*/30 * * * * *',
    placeholder: 'CRON',
    help: 'when transactions of the accounts are polled, which takes a login',
  }),
  tpslSchedule: setting({
    schema: text,
    default: '*/30 * * * * *',
    placeholder: 'CRON',
    help: 'when take-profit/stop-loss orders of the accounts are polled',
  }),
  statsSchedule: setting({
    schema: text,
    default: '5 * * * * *',
    placeholder: 'CRON',
    help: 'when profile and position figures of the accounts are polled',
  }),
  activitySchedule: setting({
    schema: text,
    default: '*/5 * * * * *',
    placeholder: 'CRON',
    help: "when everybody's trades are polled, which takes one account",
  }),

  // More to record, and sharing the work.
  rawFeeds: setting({
    schema: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]*=[^\s,]+(,[a-z0-9][a-z0-9._-]*=[^\s,]+)*$/, 'expected NAME=WSURL,NAME=WSURL')
      .optional(),
    default: undefined,
    placeholder: 'LIST',
    help: 'public WebSocket feeds (NAME=WSURL,…) whose frames are recorded as they come',
  }),
  shard: setting({
    schema: z
      .string()
      .regex(/^\d{1,6}\/\d{1,6}$/, 'expected I/N, like 0/4')
      .refine((value) => Number(value.split('/')[0]) < Number(value.split('/')[1]), 'I counts from 0 to N - 1'),
    default: '0/1',
    placeholder: 'I/N',
    help: 'which of N equal shares of the work this collector does, from 0',
  }),

  // The bus.
  busPartitions: setting({ schema: count, default: 2, placeholder: 'N', help: 'partitions of a new topic' }),
  busRetentionHours: setting({
    schema: z.coerce.number().positive(),
    default: 168,
    placeholder: 'H',
    help: 'records older than this leave the bus, hours; on Kafka when the topic is created',
  }),
  busRetentionBytes: setting({
    schema: z.coerce.number().positive(),
    default: 8e9,
    placeholder: 'BYTES',
    help: 'largest size of one partition of the bus, bytes; on Kafka when the topic is created',
  }),

  // Kafka, in the place of the embedded log.
  kafkaBrokers: setting({
    schema: z
      .string()
      .regex(/^[^\s,:]+:\d+(,[^\s,:]+:\d+)*$/, 'expected HOST:PORT,HOST:PORT')
      .optional(),
    default: undefined,
    placeholder: 'LIST',
    env: ['KAFKA_BROKERS'],
    help: 'Kafka brokers (HOST:PORT,…) to use instead of the embedded log',
  }),
  kafkaPrefix: setting({
    schema: z.string().regex(/^[a-zA-Z0-9._-]*$/),
    default: '',
    placeholder: 'TEXT',
    help: 'what the names of topics and groups in Kafka begin with, where several instances share a cluster',
  }),
  kafkaReplication: setting({
    schema: z.coerce.number().int().min(0),
    default: 0,
    placeholder: 'N',
    help: 'replicas of a new Kafka topic; 0 takes 3, or as many as there are brokers',
  }),
  kafkaCompression: setting<'none' | 'gzip'>({
    schema: z.enum(['none', 'gzip']),
    default: 'none',
    placeholder: 'CODEC',
    help: 'how records are compressed in Kafka: none or gzip',
  }),
  kafkaSessionMs: setting({
    schema: millis,
    default: 10_000,
    placeholder: 'MS',
    help: 'after so long without a sign of life the partitions of a worker on Kafka go to others, milliseconds',
  }),
  kafkaTls: setting({ schema: flag, default: false, help: 'speak to Kafka over TLS' }),
  kafkaTlsCa: setting({
    schema: text.optional(),
    default: undefined,
    placeholder: 'FILE',
    help: 'PEM file of the authorities that sign the certificates of the Kafka brokers',
  }),
  kafkaTlsCert: setting({
    schema: text.optional(),
    default: undefined,
    placeholder: 'FILE',
    help: 'PEM file of our certificate for Kafka',
  }),
  kafkaTlsKey: setting({
    schema: text.optional(),
    default: undefined,
    placeholder: 'FILE',
    help: 'PEM file of the key of our certificate for Kafka',
  }),
  kafkaSasl: setting<'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512'>({
    schema: z.enum(['none', 'plain', 'scram-sha-256', 'scram-sha-512']),
    default: 'none',
    placeholder: 'MECHANISM',
    help: 'how we log in to Kafka: none, plain, scram-sha-256 or scram-sha-512',
  }),
  kafkaUser: setting({
    schema: text.optional(),
    default: undefined,
    placeholder: 'NAME',
    help: 'our user in Kafka',
  }),
  kafkaPassword: setting({
    schema: z.string(),
    default: '',
    placeholder: 'TEXT',
    help: 'its password (better set by environment than by flag)',
  }),

  // The warehouse.
  clickhouseUrl: setting({
    schema: url.optional(),
    default: undefined,
    placeholder: 'URL',
    env: ['CLICKHOUSE_URL'],
    help: 'a ClickHouse server to use instead of the embedded one',
  }),
  clickhouseCluster: setting({
    schema: clusterNodesSchema.optional(),
    default: undefined,
    placeholder: 'URLS',
    env: ['CLICKHOUSE_CLUSTER'],
    help: 'a ClickHouse cluster: URLs of its nodes, replicas separated by "," and shards by ";"',
  }),
  clickhouseClusterName: setting({
    schema: z.string().regex(/^[a-z_][a-z0-9_]*$/),
    default: 'chancery',
    placeholder: 'NAME',
    help: 'name of that cluster in remote_servers of its nodes',
  }),
  clickhouseQuorum: setting({
    schema: count,
    default: 1,
    placeholder: 'N',
    help: 'replicas of a shard that must have a batch before it counts as written',
  }),
  clickhouseUser: setting({
    schema: text,
    default: 'default',
    placeholder: 'NAME',
    env: ['CLICKHOUSE_USER'],
    help: 'its user',
  }),
  clickhousePassword: setting({
    schema: z.string(),
    default: '',
    placeholder: 'TEXT',
    env: ['CLICKHOUSE_PASSWORD'],
    help: 'its password (better set by environment than by flag)',
  }),
  database: setting({
    schema: z.string().regex(/^[a-z_][a-z0-9_]*$/),
    default: 'chancery',
    placeholder: 'NAME',
    help: 'database in ClickHouse',
  }),
  clickhousePort: setting({
    schema: port,
    default: 0,
    placeholder: 'PORT',
    help: 'HTTP port of the embedded ClickHouse; 0 takes a free one',
  }),
  clickhouseNativePort: setting({
    schema: port.optional(),
    default: undefined,
    placeholder: 'PORT',
    help: 'native port of the embedded ClickHouse, 0 for a free one; left out it is closed, for one refused login there ends the server',
  }),
  clickhouseMemory: setting({
    schema: z.coerce.number().min(5e8),
    default: 4e9,
    placeholder: 'BYTES',
    help: 'memory limit of the embedded ClickHouse, bytes',
  }),
  fsync: setting({
    schema: flag,
    default: true,
    help: 'let ClickHouse flush every insert to disk before it answers',
  }),

  // The transform worker.
  group: setting({
    schema: text,
    default: 'chancery-transform',
    placeholder: 'NAME',
    help: 'consumer group of the transform workers',
  }),
  keepBodies: setting({
    schema: flag,
    default: true,
    help: 'keep the bodies in raw_records; those with a dead letter are kept anyway',
  }),
  bodyRetentionDays: setting({
    schema: count,
    default: 30,
    placeholder: 'DAYS',
    help: 'how long raw_records keeps bodies, days; those with a dead letter stay',
  }),
  usernameKey: setting({
    schema: z.string().min(16).optional(),
    default: undefined,
    placeholder: 'TEXT',
    help: 'key, 16 characters or more (better set by environment than by flag): usernames are stored as their HMAC-SHA-256 under it, and no body that says them',
  }),
  batchRows: setting({
    schema: count.max(1_000_000),
    default: 500_000,
    placeholder: 'N',
    help: 'rows in one batch, at most',
  }),
  batchDelayMs: setting({
    schema: z.coerce.number().min(0),
    default: 500,
    placeholder: 'MS',
    help: 'how long a batch may wait to grow, milliseconds; twice as long while it is small, four times while more records wait on the bus, and again twice for what is neither price nor chance',
  }),
  acceptLoss: setting({
    schema: flag,
    default: false,
    help: 'go on where records are gone from the bus, and write the gap down',
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Settings = { readonly [K in SettingName]: z.output<(typeof SETTINGS)[K]['schema']> };
