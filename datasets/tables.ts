import { CLEAN_SHUTDOWN, nearest, PUBLIC_POLLS, PUBLIC_TOPICS, TOPICS, UsageError } from '../core/index.js';
import { TRANSFORM_TABLES } from '../transforms/index.js';
import { COVERAGE_COMMENTS, coverageQuery } from './coverage.js';
import type { ExportedTable } from './exported-table.js';
import type { ExportRequest } from './request.js';
import { RESOLUTION_COMMENTS, resolutionsQuery } from './resolutions.js';
import { list } from './sql-text.js';
import { TARDIS_TABLES } from './tardis-tables.js';

const { orderBook, chance, account, collectorEvents } = TOPICS;

/** The table of the raw records. */
export const RECORDS = 'raw_records';

const PUBLIC_RECORDS = `_topic IN (${PUBLIC_TOPICS.map((topic) => `'${topic}'`).join(', ')}) AND kind != 'reference.feed-frame'`;

const period = (seconds: number): string => `toUInt32(${seconds}) AS period_seconds`;

/** The tables of the transforms that need no more than their own file says. */
function exportedTables(ofAccounts: boolean): ExportedTable[] {
  return TRANSFORM_TABLES.flatMap(({ name, kind, exported }) => {
    if (!exported || (exported.ofAccounts ?? false) !== ofAccounts) return [];
    const { ofAccounts: _, ...rows } = exported;
    return [{ name, ...rows, ...(kind === 'replacing' && { final: true as const }) }];
  });
}

/** The tables that an export writes without `--accounts`. */
const PUBLIC_TABLES: readonly ExportedTable[] = [
  ...exportedTables(false),
  {
    name: 'activity_records',
    topics: [account],
    time: ['executed_at', 'received_at'],
    order: ['market', 'executed_at', 'trade_record_id'],
    final: true,
    omitted: ['account', 'executed_day'],
    users: ['user_id', 'username'],
  },
  {
    name: 'collector_events',
    topics: [collectorEvents],
    evidence: true,
    time: ['recorded_at'],
    order: ['recorded_at', 'session_id', 'sequence'],
    selectBy: 'event',
    rows: "stream NOT IN ('orders', 'balance')",
    // The error that ended a collector may name an account.
    replaced: { cause: `if(type = 'session-stopped' AND cause != '${CLEAN_SHUTDOWN}', '', cause)` },
  },
  {
    name: 'polls',
    topics: [collectorEvents],
    evidence: true,
    time: ['finished_at'],
    order: ['finished_at', 'operation', 'subject'],
    rows: `operation IN (${PUBLIC_POLLS.map((name) => `'${name}'`).join(', ')})`,
    // The activity feed is polled with the API key of an account.
    replaced: { cause: "if(operation = 'activity', '', cause)" },
  },
  {
    name: RECORDS,
    topics: PUBLIC_TOPICS,
    time: ['received_at'],
    order: ['_topic'],
    omitted: ['written_at', 'body_expires_at'],
    rows: PUBLIC_RECORDS,
    payloads: true,
  },
  {
    name: 'dead_letters',
    topics: PUBLIC_TOPICS,
    // Those of a record that could not be parsed have no time.
    time: ['received_at'],
    order: ['_topic'],
    omitted: ['written_at'],
    rows: PUBLIC_RECORDS,
    payloads: true,
  },
  {
    // The pages of the activity feed, which show whether all of activity_records is there.
    name: 'account_pages',
    topics: [account],
    time: ['received_at'],
    order: ['account', 'operation', 'poll_id', 'page'],
    rows: "account = ''",
  },
  {
    name: 'lost_ranges',
    // Those of accounts, too: the trades of all users may be among the lost records.
    topics: [...PUBLIC_TOPICS, account, collectorEvents],
    // The first day of a range, on which it was lost in any case; of an unknown beginning, 1970-01-01.
    time: ['begins_at'],
    clipped: true,
    order: ['_topic'],
    omitted: ['written_at'],
  },
  {
    name: 'candles',
    topics: [orderBook],
    time: ['begins_at'],
    order: ['period_seconds', 'market', 'begins_at'],
    view: ({ candlePeriods }, condition) =>
      candlePeriods
        .map((seconds) => `SELECT ${period(seconds)}, * FROM candles(period_seconds = ${seconds}) WHERE ${condition}`)
        .join(' UNION ALL '),
    comments: { period_seconds: 'Length of the period, seconds' },
  },
  {
    name: 'resolutions',
    topics: [chance],
    time: ['known_at'],
    order: ['market'],
    // A payout of an account alone is about the account.
    view: (_, condition) => resolutionsQuery(condition),
    comments: RESOLUTION_COMMENTS,
  },
  {
    name: 'feed_loss_estimate',
    topics: [collectorEvents],
    time: ['begins_at'],
    order: ['stream', 'begins_at'],
    view: (_, condition) => `SELECT * FROM feed_loss_estimate WHERE ${condition}`,
  },
  {
    name: 'coverage',
    topics: [collectorEvents],
    time: ['begins_at'],
    order: ['table', 'event', 'market', 'begins_at'],
    selectBy: 'event',
    view: (_, condition) => coverageQuery(condition),
    comments: COVERAGE_COMMENTS,
  },
];

/** Tables about accounts, without their raw records, which hold user IDs. */
const ACCOUNT_TABLES: readonly ExportedTable[] = [
  ...exportedTables(true),
  {
    // Order history replaces an order, so order_records has the last state of each only.
    name: 'order_states',
    topics: [account],
    time: ['first_seen_at'],
    order: ['account', 'order_id', 'status', 'filled_quantity'],
    view: (_, condition) =>
      `SELECT * FROM (
        SELECT account, order_id, status, filled_quantity,
          CAST(min(order_states.first_seen_at), 'DateTime64(6, \\'UTC\\')') AS first_seen_at,
          CAST(max(order_states.last_seen_at), 'DateTime64(6, \\'UTC\\')') AS last_seen_at
        FROM order_states GROUP BY account, order_id, status, filled_quantity
      ) WHERE ${condition}`,
    loaded: true,
  },
];

export const ALL_TABLES: readonly ExportedTable[] = [...PUBLIC_TABLES, ...ACCOUNT_TABLES, ...TARDIS_TABLES];

/** Whether the `raw_records` of an export have the records of all rows. */
export const isFromPublicRecords = ({ name, topics, view, lines }: ExportedTable): boolean =>
  name !== RECORDS &&
  view === undefined &&
  lines === undefined &&
  topics.every((topic) => PUBLIC_TOPICS.includes(topic));

/** Whether the rows of a table are recorded, and loaded by an import; every other one is computed from those. */
export const isRecorded = ({ name, positions }: { readonly name: string; readonly positions: boolean }): boolean =>
  positions || ALL_TABLES.some((table) => table.name === name && table.loaded);

/** Whether the public raw records make a table: as rows of its own, or computed from other rows. */
export const isRebuildable = (table: { readonly name: string; readonly positions: boolean }): boolean =>
  ALL_TABLES.some((own) => own.name === table.name && isFromPublicRecords(own)) || !isRecorded(table);

/** The public tables and those of these accounts, with the polls and collector events about them. */
function accountTables(accounts: readonly string[]): ExportedTable[] {
  const names = list(accounts);
  const withAccounts: Readonly<Record<string, string>> = {
    collector_events: `stream IN ('orders', 'balance') AND event IN ${names}`,
    polls: `splitByChar('/', subject)[1] IN ${names}`,
    account_pages: `account IN ${names}`,
  };
  const open = PUBLIC_TABLES.map((table) => {
    const more = withAccounts[table.name];
    return more === undefined ? table : { ...table, rows: `(${table.rows}) OR (${more})` };
  });
  return [...open, ...ACCOUNT_TABLES.map((table) => ({ ...table, rows: `account IN ${names}` }))];
}

/** Rows of one key are in the order of the bus. */
const POSITION = ['_log', '_partition', '_offset', '_index'] as const;

/** Columns by which the rows of a file are sorted; no two rows have the same values. */
export const sortOrder = ({ order, view }: ExportedTable): readonly string[] =>
  view ? order : [...order, ...POSITION.filter((name) => !order.includes(name))];

/** Whether rows may be replaced or computed anew: they are read before the state of the export is complete. */
export const isReadFirst = ({ final, view }: ExportedTable): boolean => final === true || view !== undefined;

/** @throws UsageError for an unknown table */
export function tablesOf({ format, tables, accounts = [] }: ExportRequest): ExportedTable[] {
  const own = accounts.length > 0 ? accountTables(accounts) : PUBLIC_TABLES;
  const all = format === 'tardis-csv' ? TARDIS_TABLES : own;
  const names = all.map(({ name }) => name);
  for (const name of tables ?? []) {
    if (names.includes(name)) continue;
    const hint = nearest(name, names) || `: they are ${names.join(', ')}`;
    throw new UsageError(`${name} is not an exported table${hint}`);
  }
  return all.filter(({ name }) => tables?.includes(name) ?? true);
}
