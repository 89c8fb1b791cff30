import { z } from 'zod';
import { clusterNodesSchema } from './cluster-nodes.js';
import { DEFAULT_PORTS } from './default-ports.js';
import { EXCHANGE_HOSTS, type ExchangeUrls, hostNames } from './exchange-addresses.js';

/**
 * The definitions of all settings of Chancery. A setting `exchangeUrl` is the flag `--exchange-url`, the
 * environment variable `CHANCERY_EXCHANGE_URL` and the key `exchangeUrl` of chancery.config.json.
 */
export interface Setting<T> extends SettingGroup {
  readonly schema: z.ZodType<T>;
  readonly default: T;
  /** One line for --help, with the unit. */
  readonly help: string;
  /** Placeholder of the value in --help, like `MS`. Absent for flags without a value. */
  readonly placeholder?: string;
  /** By command: what its --help shows as the default, where the command does not use `default`. */
  readonly shownDefaults?: Readonly<Record<string, string>>;
  /** Further environment variables, with lower precedence. */
  readonly env?: readonly string[];
}

interface SettingGroup {
  /** Its heading in --help. */
  readonly heading: string;
  /** The commands that take it, by name or by need (`needs` of cli/subcommands.ts). */
  readonly takenBy: readonly string[];
}

const setting = <T>(s: Setting<T>): Setting<T> => s;
const text = z.string().min(1);
const port = z.coerce.number().int().min(0).max(65535);
const count = z.coerce.number().int().min(1);
const positive = z.coerce.number().positive();
const millis = z.coerce.number().min(1);
const url = z.url({ protocol: /^https?$/ });

const GENERAL = { heading: 'Options:', takenBy: ['long-running', 'clickhouse', 'import'] };
const LONG_RUNNING = { heading: 'Options:', takenBy: ['long-running', 'up', 'doctor'] };
const EXCHANGE = { heading: 'Recorded exchange:', takenBy: ['exchange addresses'] };
const COLLECT = {
  heading: 'What is collected, and when (CRON has five fields, or six that begin with the seconds):',
  takenBy: ['collect', 'up'],
};
const BUS = { heading: 'Topics of the bus:', takenBy: ['collect', 'transform', 'up'] };
const KAFKA = { heading: 'Kafka, instead of the embedded log:', takenBy: ['bus'] };
const CLICKHOUSE = { heading: 'ClickHouse:', takenBy: ['clickhouse'] };
const VIEWER = { heading: 'Viewer:', takenBy: ['view', 'up'] };
const TRANSFORM = { heading: 'Transform worker:', takenBy: ['transform', 'up'] };

const optional = (group: SettingGroup, placeholder: string, help: string) =>
  setting({ ...group, schema: text.optional(), default: undefined, placeholder, help });
const schedule = (preset: string, help: string) =>
  setting({ ...COLLECT, schema: text, default: preset, placeholder: 'CRON', help });
const onOff = (group: SettingGroup, preset: boolean, help: string) =>
  setting({ ...group, schema: z.union([z.boolean(), z.stringbool()]).transform(Boolean), default: preset, help });

/** Settings that collectors get unchanged. */
const COLLECT_SETTINGS = {
  requestsPerSecond: setting({
    ...COLLECT,
    schema: positive,
    default: 20,
    placeholder: 'N',
    help: 'maximum rate of polling requests to one host, per second',
  }),
  auditsPerSecond: setting({
    ...COLLECT,
    schema: positive,
    default: 20,
    placeholder: 'N',
    help: 'maximum rate of order book audits, per second; not part of --requests-per-second',
  }),
  auditMs: setting({
    ...COLLECT,
    schema: millis,
    default: 30_000,
    placeholder: 'MS',
    help: 'interval between order book audits of an event, milliseconds',
  }),

  collectorName: setting({
    ...COLLECT,
    schema: text,
    default: 'collector',
    placeholder: 'NAME',
    help: 'name of this collector in collector events',
  }),
  subscriptionsPerConnection: setting({
    ...COLLECT,
    schema: count,
    default: 200,
    placeholder: 'N',
    help: 'maximum number of events subscribed to on one WebSocket connection',
  }),
  silenceMs: setting({
    ...COLLECT,
    schema: millis,
    default: 20_000,
    placeholder: 'MS',
    help: 'interval between the probes of a chance subscription; also the silence after which an order book connection is audited, and the minimum silence after which an order updates stream is stale; milliseconds',
  }),
  eventsSchedule: schedule('*/10 * * * * *', 'when event search is polled'),
  newEventsSchedule: schedule('* * * * * *', 'when event search is polled for new events only'),
  referenceSchedule: schedule('0 */5 * * * *', 'when categories, tags and coins are polled'),
  historySchedule: schedule('30 */10 * * * *', 'when chance history is polled'),
  historyPeriod: setting({
    ...COLLECT,
    schema: text,
    default: '1s',
    placeholder: 'CODE',
    help: 'resolution of polled chance history, as a period code of the exchange',
  }),
  historyDays: setting({
    ...COLLECT,
    schema: positive,
    default: 30,
    placeholder: 'DAYS',
    help: 'how much chance history is fetched for a market seen for the first time, days',
  }),
  // Credentials are not settings: see core/accounts.ts.
  accountsFile: optional(COLLECT, 'FILE', 'JSON file (mode 0600) with the credentials of accounts to record'),
  holdingsSchedule: schedule('*/10 * * * * *', 'when balances, positions and active orders of the accounts are polled'),
  tradesSchedule: schedule('*/10 * * * * *', 'when orders and trades of the accounts are polled'),
  transactionsSchedule: schedule(
    '*/30 * * * * *',
    'when transactions of the accounts are polled; needs a login, an API key is not enough',
  ),
  tpslSchedule: schedule('*/30 * * * * *', 'when take-profit/stop-loss orders of the accounts are polled'),
  statsSchedule: schedule('5 * * * * *', 'when profile and position figures of the accounts are polled'),
  activitySchedule: schedule('*/5 * * * * *', 'when the trades of all users are polled; needs at least one account'),
  rawFeeds: setting({
    ...COLLECT,
    schema: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]*=[^\s,]+(,[a-z0-9][a-z0-9._-]*=[^\s,]+)*$/, 'it must be NAME=WSURL,NAME=WSURL')
      .optional(),
    default: undefined,
    placeholder: 'LIST',
    help: 'public WebSocket feeds (NAME=WSURL,…) whose frames are recorded unchanged',
  }),
  shard: setting({
    ...COLLECT,
    takenBy: ['collect'],
    schema: z
      .string()
      .regex(/^\d{1,6}\/\d{1,6}$/, 'it must be I/N, like 0/4')
      .refine((value) => Number(value.split('/')[0]) < Number(value.split('/')[1]), 'I counts from 0 to N - 1'),
    default: '0/1',
    placeholder: 'I/N',
    help: 'which of N shares of the work this collector does, counted from 0',
  }),
} as const;

/** Settings that transform workers get unchanged. */
const TRANSFORM_SETTINGS = {
  fsync: onOff({ ...TRANSFORM, takenBy: ['transform', 'up', 'migrate'] }, true, 'fsync inserts in ClickHouse'),
  group: setting({
    ...TRANSFORM,
    takenBy: ['transform', 'up', 'status', 'doctor', 'export'],
    schema: text,
    default: 'chancery-transform',
    placeholder: 'NAME',
    help: 'consumer group of the transform workers',
  }),
  keepBodies: onOff(
    TRANSFORM,
    true,
    'store bodies in raw_records; bodies with a dead letter are stored in any case, up to 1,000 of one reason in a batch',
  ),
  bodyRetentionDays: setting({
    ...TRANSFORM,
    schema: count,
    default: 30,
    placeholder: 'DAYS',
    help: 'retention time of bodies in raw_records, days; a body does not expire if its dead letter has the payload',
  }),
  usernameKey: setting({
    ...TRANSFORM,
    schema: z.string().min(16).optional(),
    default: undefined,
    placeholder: 'TEXT',
    help: 'HMAC-SHA-256 key, at least 16 characters: usernames are stored as hashes, and bodies with usernames are not stored (set it by environment variable: flags show in the process list)',
  }),
  batchRows: setting({
    ...TRANSFORM,
    schema: count.max(1_000_000),
    default: 500_000,
    placeholder: 'N',
    help: 'maximum number of rows in a batch',
  }),
  batchDelayMs: setting({
    ...TRANSFORM,
    schema: z.coerce.number().min(0),
    default: 500,
    placeholder: 'MS',
    help: 'how long a batch of prices or chances collects rows, milliseconds; small batches, batches of other records and those of a partition with lag wait up to 8 times as long',
  }),
  acceptLoss: onOff(TRANSFORM, false, 'continue after records or their rows were lost, and record the gap'),
  rebuild: onOff(
    TRANSFORM,
    false,
    'if ClickHouse was replaced or restored from an older backup, write its missing rows again from the bus; has no effect otherwise',
  ),
} as const;

export const SETTINGS = {
  data: setting({
    ...GENERAL,
    schema: text,
    default: './data',
    placeholder: 'DIR',
    help: 'data folder; it identifies the instance',
  }),
  logLevel: setting({
    ...GENERAL,
    takenBy: ['long-running', 'up'],
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
    default: 'info',
    placeholder: 'LEVEL',
    help: 'minimum level of log lines',
  }),
  metricsPort: setting({
    ...LONG_RUNNING,
    schema: port,
    default: 0,
    placeholder: 'PORT',
    help: 'port of /healthz and /metrics; 0 picks a free one',
  }),
  metricsHost: setting({
    ...LONG_RUNNING,
    schema: text,
    default: '127.0.0.1',
    placeholder: 'HOST',
    help: 'address that /healthz and /metrics listen on; 0.0.0.0 makes them readable from other machines',
  }),
  stopWithParent: onOff(
    { ...LONG_RUNNING, takenBy: ['long-running'] },
    false,
    'exit when standard input closes; `chancery up` starts its services with it',
  ),

  exchangeUrl: setting({
    ...EXCHANGE,
    schema: url,
    default: `http://127.0.0.1:${DEFAULT_PORTS.exchange}`,
    placeholder: 'URL',
    shownDefaults: {
      up: 'a simulated exchange, which it starts',
      doctor: 'the exchange that runs on the data folder, if any',
    },
    help: 'base URL of the exchange',
  }),
  ...hostSettings(),
  requestTimeoutMs: setting({
    ...EXCHANGE,
    schema: millis,
    default: 15_000,
    placeholder: 'MS',
    help: 'timeout of a request, milliseconds',
  }),
  ...COLLECT_SETTINGS,

  busPartitions: setting({ ...BUS, schema: count, default: 2, placeholder: 'N', help: 'partitions of a new topic' }),
  busRetentionHours: setting({
    ...BUS,
    schema: positive,
    default: 168,
    placeholder: 'H',
    help: 'retention time of records, hours; on Kafka applied when a topic is created',
  }),
  busRetentionBytes: setting({
    ...BUS,
    schema: positive,
    default: 8e9,
    placeholder: 'BYTES',
    help: 'maximum size of a partition, bytes; on Kafka applied when a topic is created',
  }),

  kafkaBrokers: setting({
    ...KAFKA,
    schema: z
      .string()
      .regex(/^[^\s,:]+:\d+(,[^\s,:]+:\d+)*$/, 'it must be HOST:PORT,HOST:PORT')
      .optional(),
    default: undefined,
    placeholder: 'LIST',
    env: ['KAFKA_BROKERS'],
    help: 'Kafka brokers (HOST:PORT,…) to use instead of the embedded log',
  }),
  kafkaPrefix: setting({
    ...KAFKA,
    schema: z.string().regex(/^[a-zA-Z0-9._-]*$/),
    default: '',
    placeholder: 'TEXT',
    help: 'prefix of topic and group names, for instances that share a Kafka cluster',
  }),
  kafkaReplication: setting({
    ...KAFKA,
    takenBy: BUS.takenBy,
    schema: z.coerce.number().int().min(0),
    default: 0,
    placeholder: 'N',
    help: 'replication factor of new topics; 0: three, or the number of brokers if there are fewer',
  }),
  kafkaCompression: setting<'none' | 'gzip'>({
    ...KAFKA,
    takenBy: BUS.takenBy,
    schema: z.enum(['none', 'gzip']),
    default: 'none',
    placeholder: 'CODEC',
    help: 'compression of records: none or gzip',
  }),
  kafkaSessionMs: setting({
    ...KAFKA,
    takenBy: TRANSFORM.takenBy,
    schema: millis,
    default: 10_000,
    placeholder: 'MS',
    help: 'session timeout: a worker without a heartbeat for this long loses its partitions, milliseconds',
  }),
  kafkaTls: onOff(KAFKA, false, 'connect to Kafka over TLS'),
  kafkaTlsCa: optional(KAFKA, 'FILE', 'PEM file with the CA certificates that the brokers are verified against'),
  kafkaTlsCert: optional(KAFKA, 'FILE', 'PEM file with the client certificate'),
  kafkaTlsKey: optional(KAFKA, 'FILE', 'PEM file with the private key of that certificate'),
  kafkaSasl: setting<'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512'>({
    ...KAFKA,
    schema: z.enum(['none', 'plain', 'scram-sha-256', 'scram-sha-512']),
    default: 'none',
    placeholder: 'MECHANISM',
    help: 'SASL mechanism: none, plain, scram-sha-256 or scram-sha-512',
  }),
  kafkaUser: optional(KAFKA, 'NAME', 'SASL user'),
  kafkaPassword: setting({
    ...KAFKA,
    schema: z.string(),
    default: '',
    placeholder: 'TEXT',
    help: 'SASL password (set it by environment variable: flags show in the process list)',
  }),

  clickhouseUrl: setting({
    ...CLICKHOUSE,
    schema: url.optional(),
    default: undefined,
    placeholder: 'URL',
    env: ['CLICKHOUSE_URL'],
    help: 'ClickHouse server to use instead of the embedded one',
  }),
  clickhouseCluster: setting({
    ...CLICKHOUSE,
    schema: clusterNodesSchema.optional(),
    default: undefined,
    placeholder: 'URLS',
    env: ['CLICKHOUSE_CLUSTER'],
    help: 'ClickHouse cluster to use: URLs of its nodes, replicas separated by "," and shards by ";"',
  }),
  clickhouseClusterName: setting({
    ...CLICKHOUSE,
    takenBy: ['transform', 'up', 'migrate', 'doctor'],
    schema: z.string().regex(/^[a-z_][a-z0-9_]*$/),
    default: 'chancery',
    placeholder: 'NAME',
    help: 'name of that cluster in remote_servers of its nodes',
  }),
  clickhouseQuorum: setting({
    ...TRANSFORM,
    schema: count,
    default: 1,
    placeholder: 'N',
    help: 'replicas of a shard that must have stored a batch before it counts as written (insert_quorum)',
  }),
  clickhouseUser: setting({
    ...CLICKHOUSE,
    schema: text,
    default: 'default',
    placeholder: 'NAME',
    env: ['CLICKHOUSE_USER'],
    help: 'user of that server or cluster',
  }),
  clickhousePassword: setting({
    ...CLICKHOUSE,
    schema: z.string(),
    default: '',
    placeholder: 'TEXT',
    env: ['CLICKHOUSE_PASSWORD'],
    help: 'password of that user (set it by environment variable: flags show in the process list)',
  }),
  database: setting({
    ...CLICKHOUSE,
    takenBy: ['clickhouse', 'warehouse', 'import'],
    schema: z.string().regex(/^[a-z_][a-z0-9_]*$/),
    default: 'chancery',
    placeholder: 'NAME',
    help: 'database in ClickHouse',
  }),
  clickhousePort: setting({
    ...CLICKHOUSE,
    takenBy: ['warehouse', 'up', 'doctor'],
    schema: port,
    default: 0,
    placeholder: 'PORT',
    help: `HTTP port of the embedded ClickHouse; 0 picks a free one (\`chancery up\`: the first free one from ${DEFAULT_PORTS.clickhouse} on)`,
  }),
  clickhouseNativePort: setting({
    ...CLICKHOUSE,
    takenBy: ['warehouse', 'up'],
    schema: port.optional(),
    default: undefined,
    placeholder: 'PORT',
    help: 'native protocol port; 0 picks a free one. Off by default: a failed native login crashes the embedded server',
  }),
  clickhouseMemory: setting({
    ...CLICKHOUSE,
    takenBy: ['warehouse', 'up', 'sql', 'export', 'dataset', 'import'],
    schema: z.coerce.number().min(5e8),
    default: 4e9,
    placeholder: 'BYTES',
    help: 'memory limit of the embedded ClickHouse, bytes',
  }),
  readerMaxRows: setting({
    ...CLICKHOUSE,
    takenBy: ['warehouse', 'up', 'sql'],
    schema: count,
    default: 1_000_000,
    placeholder: 'N',
    help: "maximum rows of a result of the embedded ClickHouse's read-only user; a larger result is an error",
  }),
  readerMaxSeconds: setting({
    ...CLICKHOUSE,
    takenBy: ['warehouse', 'up', 'sql'],
    schema: count,
    default: 60,
    placeholder: 'SECONDS',
    help: 'maximum duration of a query of that user, seconds',
  }),
  clickhouseUnconfined: onOff(
    { ...CLICKHOUSE, takenBy: ['warehouse', 'up', 'sql', 'doctor', 'export', 'dataset', 'import'] },
    false,
    'run the embedded ClickHouse without restricting it to its own files: its users can then read every file of the user who runs it',
  ),

  viewerPort: setting({
    ...VIEWER,
    takenBy: [...VIEWER.takenBy, 'doctor'],
    schema: port,
    default: 0,
    placeholder: 'PORT',
    help: `port of the viewer; 0 picks the first free one from ${DEFAULT_PORTS.viewer} on`,
  }),
  viewerHost: setting({
    ...VIEWER,
    takenBy: [...VIEWER.takenBy, 'doctor'],
    schema: text,
    default: '127.0.0.1',
    placeholder: 'HOST',
    help: 'address that the viewer listens on; on any address other than loopback, it asks for its token',
  }),
  viewerPublicUrl: setting({
    ...VIEWER,
    schema: url.optional(),
    default: undefined,
    placeholder: 'URL',
    help: 'address of the viewer behind a proxy, such as https://chancery.example',
  }),
  viewerLogin: onOff(
    VIEWER,
    true,
    'ask for the token in the file viewer-token of the data folder; `chancery up` asks for it only if it records accounts of a real exchange, or if --viewer-host is not loopback',
  ),
  dashboards: optional(VIEWER, 'DIR', 'folder of the dashboards to show, instead of those of Chancery'),

  ...TRANSFORM_SETTINGS,
} as const;

export type SettingName = keyof typeof SETTINGS;
type Values<Group extends Readonly<Record<string, Setting<unknown>>>> = {
  readonly [K in keyof Group]: z.output<Group[K]['schema']>;
};
export type Settings = Values<typeof SETTINGS>;
export type CollectSettings = Values<typeof COLLECT_SETTINGS>;
export type TransformSettings = Values<typeof TRANSFORM_SETTINGS>;

export const collectSettings = (settings: Settings): CollectSettings => pick(settings, COLLECT_SETTINGS);
export const transformSettings = (settings: Settings): TransformSettings => pick(settings, TRANSFORM_SETTINGS);

const pick = <K extends SettingName>(settings: Settings, group: Readonly<Record<K, unknown>>): Pick<Settings, K> =>
  Object.fromEntries((Object.keys(group) as K[]).map((name) => [name, settings[name]])) as Pick<Settings, K>;

/** One setting per host of the exchange, for hosts that are not at the base URL. */
function hostSettings(): { [K in Exclude<keyof ExchangeUrls, 'exchangeUrl'>]: Setting<string | undefined> } {
  const settings = hostNames.map((host) => {
    const about = EXCHANGE_HOSTS[host];
    const stream = 'path' in about;
    const help = stream ? `${about.serves}, if not at the base URL` : `host of ${about.serves}, if not the base URL`;
    return [`${host}Url`, { ...optional(EXCHANGE, 'URL', help), schema: (stream ? text : url).optional() }];
  });
  return Object.fromEntries(settings);
}
