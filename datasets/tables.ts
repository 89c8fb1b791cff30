import { TOPICS, type Topic } from '../core/index.js';
import { list } from './sql-text.js';

/** A table whose rows an export writes. */
export interface ExportedTable {
  readonly name: string;
  /** The topics whose records may become its rows. */
  readonly topics: readonly Topic[];
  /** SQL of the time (DateTime64(6), UTC) whose day is the file's. */
  readonly time: string;
  /** Sort order of the files; the position on the bus follows as tie-break. */
  readonly order: readonly string[];
  /** Whether only the newest row of a key counts (ReplacingMergeTree): read with FINAL. */
  readonly final?: true;
  /** Columns that are not written: filled by ClickHouse's clock, or about an account. */
  readonly omitted?: readonly string[];
  /** Condition of the rows that are written, where others are about an account. */
  readonly rows?: string;
  /** Column that an export of some markets selects by, where it is not the first of market and event that exists. */
  readonly selectBy?: 'event';
  /** Columns with another value than in ClickHouse, as SQL. */
  readonly replaced?: Readonly<Record<string, string>>;
  /** Columns with user IDs or names, written as HMAC-SHA-256. */
  readonly users?: readonly string[];
  /** Rows per row group of Parquet, where rows are large. */
  readonly rowGroup?: number;
}

const { orderBook, chance, reference, account, collectorEvents } = TOPICS;

/** Topics whose records hold no account, and no user outside frames of undocumented feeds. */
const PUBLIC = [orderBook, chance, reference];
const PUBLIC_RECORDS = `_topic IN (${PUBLIC.map((topic) => `'${topic}'`).join(', ')}) AND kind != 'reference.feed-frame'`;

/** Operations of polls that concern no account. */
const PUBLIC_POLLS = [
  'event-search',
  'new-events',
  'categories',
  'popular-tags',
  'coins',
  'chance-history',
  'activity',
];

const observations = (name: string, key: string): ExportedTable => ({
  name: `${name}_observations`,
  topics: [reference],
  time: 'received_at',
  order: [key, 'received_at'],
});

/** The public tables. Every other table is about an account, or is computed from these. */
export const PUBLIC_TABLES: readonly ExportedTable[] = [
  { name: 'price_ticks', topics: [orderBook], time: 'received_at', order: ['market', 'received_at'] },
  { name: 'chance_points', topics: [chance], time: 'occurred_at', order: ['market', 'occurred_at', 'received_at'] },
  {
    name: 'chance_history_points',
    topics: [chance],
    time: 'occurred_at',
    order: ['market', 'event', 'period', 'occurred_at'],
    final: true,
  },
  {
    name: 'activity_records',
    topics: [account],
    time: 'ifNull(executed_at, received_at)',
    order: ['market', 'executed_at', 'trade_record_id'],
    final: true,
    omitted: ['account'],
    users: ['user_id', 'username'],
  },
  observations('event', 'event'),
  observations('market', 'market'),
  observations('category', 'category'),
  observations('tag', 'tag'),
  observations('coin', 'coin'),
  {
    name: 'collector_events',
    topics: [collectorEvents],
    time: 'recorded_at',
    order: ['recorded_at', 'session_id', 'sequence'],
    selectBy: 'event',
    rows: "stream NOT IN ('orders', 'balance')",
    // The error that ended a collector may name an account.
    replaced: { cause: "if(type = 'session-stopped', '', cause)" },
  },
  {
    name: 'polls',
    topics: [collectorEvents],
    time: 'finished_at',
    order: ['finished_at', 'operation', 'subject'],
    rows: `operation IN (${PUBLIC_POLLS.map((name) => `'${name}'`).join(', ')})`,
    // The activity feed is polled with the API key of an account.
    replaced: { cause: "if(operation = 'activity', '', cause)" },
  },
  { name: 'audits', topics: [collectorEvents], time: 'audited_at', order: ['audited_at', 'stream', 'event'] },
  { name: 'audit_mismatches', topics: [collectorEvents], time: 'audited_at', order: ['audited_at', 'market'] },
  {
    name: 'raw_records',
    topics: PUBLIC,
    time: 'received_at',
    order: ['_topic'],
    omitted: ['written_at', 'body_expires_at'],
    rows: PUBLIC_RECORDS,
    rowGroup: 16_384,
  },
  {
    name: 'dead_letters',
    topics: PUBLIC,
    // Those of a record that could not be parsed have no time.
    time: "ifNull(received_at, toDateTime64(0, 6, 'UTC'))",
    order: ['_topic'],
    omitted: ['written_at'],
    rows: PUBLIC_RECORDS,
    rowGroup: 16_384,
  },
  {
    name: 'lost_ranges',
    topics: [...PUBLIC, collectorEvents],
    time: 'ends_at',
    order: ['_topic'],
    omitted: ['written_at'],
    rows: `_topic != '${account}'`,
  },
];

const ofAccount = (name: string, order: readonly string[], more: Partial<ExportedTable> = {}): ExportedTable => ({
  name,
  topics: [account],
  time: 'received_at',
  order: ['account', ...order],
  ...more,
});

const user = { users: ['user_id'] } as const;

/** Tables about accounts, without their raw records, which hold user IDs. */
const ACCOUNT_TABLES: readonly ExportedTable[] = [
  ofAccount('account_pages', ['operation', 'poll_id', 'page']),
  ofAccount('active_order_observations', ['poll_id', 'order_id']),
  ofAccount('balance_observations', ['poll_id', 'asset']),
  ofAccount('balance_updates', ['asset', 'received_at'], user),
  ofAccount('order_records', ['order_id'], { ...user, final: true }),
  ofAccount('order_updates', ['type', 'order_id', 'received_at'], user),
  ofAccount('position_observations', ['poll_id', 'asset']),
  ofAccount('position_stats_observations', ['user_id', 'received_at'], user),
  ofAccount('profile_observations', ['user_id', 'received_at'], { users: ['user_id', 'username'] }),
  ofAccount('tpsl_order_observations', ['poll_id', 'asset', 'tpsl_order_id']),
  ofAccount('trade_records', ['trade_record_id'], { ...user, final: true }),
  ofAccount('transaction_records', ['transaction_id'], { ...user, final: true }),
];

export const ALL_TABLES: readonly ExportedTable[] = [...PUBLIC_TABLES, ...ACCOUNT_TABLES];

/** The public tables and those of these accounts, with the polls and collector events about them. */
export function accountTables(accounts: readonly string[]): ExportedTable[] {
  const names = list(accounts);
  const withAccounts: Readonly<Record<string, string>> = {
    collector_events: `stream IN ('orders', 'balance') AND event IN ${names}`,
    polls: `splitByChar('/', subject)[1] IN ${names}`,
  };
  const open = PUBLIC_TABLES.map((table) => {
    const more = withAccounts[table.name];
    return more === undefined ? table : { ...table, rows: `(${table.rows}) OR (${more})` };
  });
  return [...open, ...ACCOUNT_TABLES.map((table) => ({ ...table, rows: `account IN ${names}` }))];
}

/** Rows of one key are in the order of the bus. */
export const POSITION = ['_log', '_partition', '_offset', '_index'] as const;
