import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { type ViewResult, viewResults } from './declared-views.js';

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

/** Whether a type is allowed: one of those above, its Nullable, an Array, or a Tuple of those with names. */
function isPortable(type: string): boolean {
  const [, nullable] = /^Nullable\((.+)\)$/.exec(type) ?? [];
  if (nullable !== undefined) return SCALARS.includes(nullable);
  const [, element] = /^Array\((.+)\)$/.exec(type) ?? [];
  if (element !== undefined) return isPortable(element);
  const [, members] = /^Tuple\((.+)\)$/.exec(type) ?? [];
  if (members !== undefined) {
    return members.split(/, (?!\d|'UTC')/).every((member) => {
      const [, memberType = ''] = /^\w+ (.+)$/.exec(member) ?? [];
      return SCALARS.includes(/^Nullable\((.+)\)$/.exec(memberType)?.[1] ?? memberType);
    });
  }
  return SCALARS.includes(type);
}

it('every view answers the reader when nothing was recorded yet', () => {
  expect(views.length).toBeGreaterThan(50);
  const some = views.filter(({ name, rows }) => rows.length > 0 && name !== 'table_sizes');
  expect(some.map(({ name }) => name)).toEqual([]);
});

it('a text of a view can be compared with an empty one', async () => {
  const compared = ['latest_ticks WHERE market', 'activity WHERE side', 'coverage WHERE event'];
  const counts = compared.map((of) => `(SELECT count() FROM ${of} = '')`);
  expect(await host.database.run(`SELECT ${counts.join(' + ')}`, 'reader')).toBe('0\n');
});

it('EXPLAIN shows the plan of the largest views in a few pages', async () => {
  for (const { source } of views.filter(({ name }) => /^(calibration_regression|account_performance)$/.test(name))) {
    expect((await host.database.run(`EXPLAIN SELECT * FROM ${source}`, 'reader')).length).toBeLessThan(200_000);
  }
});

/** Views with a parameter `period_seconds` that lack a column of completeness, and why. */
const WITHOUT_COMPLETENESS: Readonly<Record<string, string>> = {
  account_performance: 'one row per account, not per period; complete_to says how far its history goes',
  account_periods: 'the sums of account_performance; complete_to says how far its history goes',
  candle_prices: 'the prices of candles without the cost of their completeness',
  completeness_buckets: 'the observed ranges from which the completeness of candles is computed',
  outcome_correlations: 'one row per pair of markets; changes counts the observed ones',
  position_costs: 'costs up to the end of a period; account_completeness has complete_to of the account',
  resampled_prices: 'one row per moment; state says whether the price is observed',
};

it('every view by period says which fraction was observed, backfilled and missing', () => {
  const byPeriod = views.filter(({ definition }) => definition.includes('{period_seconds:UInt32}'));
  const bare = byPeriod.filter(({ declared }) => {
    const names = declared.map(({ name }) => name);
    return !['observed', 'backfilled', 'missing'].every((column) => names.includes(column));
  });
  expect(byPeriod.length).toBeGreaterThan(bare.length);
  expect(bare.map(({ name }) => name)).toEqual(Object.keys(WITHOUT_COMPLETENESS));
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

  it('are declared as they are returned, also by parameterized views', () => {
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
