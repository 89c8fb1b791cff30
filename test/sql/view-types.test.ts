import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { type ViewResult, viewResults } from './declared-views.js';
import { ago, collectorEvent, eventSeen, searchPoll, tick, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let views: ViewResult[];

beforeAll(async () => {
  views = await viewResults(host.database);
});

/** The types that sql/README.md allows. */
const SCALARS = [
  'Float64',
  'Decimal(38, 12)',
  'String',
  "DateTime64(6, 'UTC')",
  'Date',
  'Bool',
  'Int64',
  'UInt16',
  'UInt32',
  'UInt64',
];

/** Whether a type is allowed: one of those above, its Nullable, an Array, or a Tuple with names. */
function isPortable(type: string): boolean {
  const [, nullable] = /^Nullable\((.+)\)$/.exec(type) ?? [];
  if (nullable !== undefined) return SCALARS.includes(nullable);
  const [, element] = /^Array\((.+)\)$/.exec(type) ?? [];
  if (element !== undefined) return isPortable(element);
  const [, members] = /^Tuple\((.+)\)$/.exec(type) ?? [];
  if (members !== undefined) {
    return members.split(/, (?!\d|'UTC')/).every((member) => {
      const [, memberType = ''] = /^\w+ (.+)$/.exec(member) ?? [];
      return SCALARS.includes(memberType);
    });
  }
  return SCALARS.includes(type);
}

it('every view answers the reader when nothing was recorded yet', () => {
  expect(views.length).toBeGreaterThan(50);
  expect(views.filter(({ rows }) => rows.length > 0).map(({ name }) => name)).toEqual([]);
});

describe('the types of views', () => {
  it('are those that Arrow, Parquet, pandas, polars and DuckDB read unchanged', () => {
    const others = views.flatMap(({ name, returned }) =>
      returned.filter(({ type }) => !isPortable(type)).map((column) => `${name}.${column.name} ${column.type}`),
    );
    expect(others).toEqual([]);
  });

  it('are refused when a tool would read something else', () => {
    const others = [
      'LowCardinality(String)',
      'LowCardinality(Float64)',
      'Nullable(Decimal(76, 24))',
      "Enum8('a' = 1)",
      "DateTime('UTC')",
      'DateTime64(6)',
      'Array(LowCardinality(String))',
      'Tuple(UInt64, UInt32)',
      'UUID',
      'AggregateFunction(count)',
    ];
    expect(others.filter(isPortable)).toEqual([]);
    const allowed = ['Array(String)', 'Nullable(Date)', "Array(Tuple(begins_at DateTime64(6, 'UTC'), cause String))"];
    expect(allowed.filter((type) => !isPortable(type))).toEqual([]);
  });

  it('are declared as they are returned, also by views with parameters', () => {
    for (const { name, declared, returned } of views) {
      expect([name, declared.map(({ name: column, type }) => ({ name: column, type }))]).toEqual([name, returned]);
    }
  });
});

describe('comments', () => {
  it('are on every view, its question, and on each of its columns', () => {
    expect(views.filter(({ comment }) => !comment.endsWith('?')).map(({ name }) => name)).toEqual([]);
    const bare = views.flatMap(({ name, declared }) =>
      declared.filter(({ comment }) => comment === '').map((column) => `${name}.${column.name}`),
    );
    expect(bare).toEqual([]);
  });

  it('are on every table and each of its columns', async () => {
    const columns = await host.database.rows(
      `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND comment = '' AND table != 'applied_sql'
         AND table NOT IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView')`,
    );
    expect(columns).toEqual([]);
    const tables = await host.database.rows(
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND comment = '' AND name != 'applied_sql'`,
    );
    expect(tables).toEqual([]);
  });
});

it('every view answers with finite numbers about one event with one tick, one chance and one trade', async () => {
  const data = new WarehouseData(host.database);
  const on = { event: 'event of m', connection_id: 'c', markets: ['m'] };
  await data.insert('collector_events', [
    collectorEvent('s', 1, ago(7300), 'session-started', { collector: 'c' }),
    collectorEvent('s', 2, ago(7200), 'subscribed', { ...on, stream: 'order-book' }),
    collectorEvent('s', 3, ago(7200), 'subscribed', { ...on, stream: 'chance' }),
    collectorEvent('s', 4, ago(0), 'heartbeat'),
  ]);
  await data.insert('polls', [searchPoll(ago(7250))]);
  await data.insert('event_observations', [eventSeen('event of m', ago(7250), { markets: ['m'] })]);
  await data.insert('market_observations', [
    { received_at: ago(7250), event: 'event of m', market: 'm', name: 'm', yes_asset: 'yes', no_asset: 'no' },
  ]);
  await data.insert('price_ticks', [tick('m', ago(7100), 0.5)]);
  const occurred_at = ago(7100);
  await data.insert('chance_points', [
    { received_at: occurred_at, occurred_at, event: 'event of m', market: 'm', chance: 0.5, source: 'change' },
  ]);
  const trade = {
    market: 'm',
    side: 'BUY',
    quantity: '1',
    price: '0.5',
    executed_at: ago(7000),
    received_at: ago(6990),
  };
  const record = { ...trade, trade_record_id: 'r', trade_id: 't', event: 'event of m', asset: 'yes', fee: '0' };
  await data.insert('trade_records', [{ ...record, account: 'ann', pass_began_at: ago(6990), page: 0 }]);
  await data.insert('activity_records', [{ ...trade, trade_record_id: 'r', position: 'YES' }]);
  const answers: [string, string][] = [];
  for (const { name, source } of views) {
    answers.push([name, await host.database.run(`SELECT * FROM ${source} FORMAT TSV`, 'reader')]);
  }
  expect(answers.filter(([, rows]) => /(?<![\w'])[+-]?(nan|inf)(?![\w'])/.test(rows)).map(([name]) => name)).toEqual(
    [],
  );
  const answered = answers.filter(([, rows]) => rows !== '').map(([name]) => name);
  expect(answered).toEqual(
    expect.arrayContaining(['candles', 'chance_candles', 'coverage_by_event', 'pnl_by_account']),
  );
});
