import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../core/index.js';
import { Connection, checkColumns, logTable, migrate, replacingTable } from '../../warehouse/index.js';
import { chancery } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const context = useClickHouse();
const never = new AbortController().signal;
const connections: Connection[] = [];
let database = '';
let number = 0;

beforeEach(() => {
  number += 1;
  database = `migrate_${number}`;
});
afterAll(async () => {
  for (const connection of connections) await connection.close();
});

function connect(name = database): Connection {
  const connection = new Connection({
    endpoint: context.clickhouse.endpoint.owner,
    database: name,
    application: 'test',
  });
  connections.push(connection);
  return connection;
}

/** A folder with these SQL files, by path below it. */
function sqlFolder(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const sub of ['migrations', 'views']) mkdirSync(join(folder, sub), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const FIRST = `
  -- A table; and a comment with a semicolon; and a quote'
  CREATE TABLE IF NOT EXISTS {database}.numbers (n UInt64, note String DEFAULT 'a;b''c' COMMENT 'it\\'s; fine')
  ENGINE = {engine:MergeTree} ORDER BY n SETTINGS {log_settings};
  INSERT INTO {database}.numbers (n) SELECT 1 WHERE 1 NOT IN (SELECT n FROM {database}.numbers); /* ; /* nested ; */ */
`;
const SECOND = 'INSERT INTO {database}.numbers (n) SELECT max(n) + 1 FROM {database}.numbers;';

describe('migrations', () => {
  it('are applied in order, once, and recorded', async () => {
    const folder = sqlFolder({ 'migrations/0001_create_numbers.sql': FIRST, 'migrations/0002_add_two.sql': SECOND });
    const connection = connect();
    const first = await migrate(connection, { folder, fsync: true }, never);
    expect(first.migrations).toEqual(['0001_create_numbers', '0002_add_two']);
    expect(await migrate(connection, { folder, fsync: true }, never)).toEqual({
      migrations: [],
      views: [],
      dropped: [],
    });
    expect(await connection.query('SELECT n, note FROM {d:Identifier}.numbers ORDER BY n', { d: database })).toEqual([
      { n: 1, note: "a;b'c" },
      { n: 2, note: "a;b'c" },
    ]);
    const recorded = await connection.query<{ name: string }>(`SELECT name FROM ${database}.applied_sql ORDER BY name`);
    expect(recorded.map((r) => r.name)).toEqual(['0001_create_numbers', '0002_add_two']);
  });

  it('that were changed after they were applied are refused', async () => {
    const connection = connect();
    await migrate(
      connection,
      { folder: sqlFolder({ 'migrations/0001_create_numbers.sql': FIRST }), fsync: true },
      never,
    );
    const changed = sqlFolder({ 'migrations/0001_create_numbers.sql': `${FIRST} SELECT 1;` });
    await expect(migrate(connection, { folder: changed, fsync: true }, never)).rejects.toThrow(
      /^database migrate_\d+ at http:\S+ has another migration 0001_create_numbers\.sql \(applied on \d{4}-.*use the version that wrote the data/,
    );
    const sameButWindowsLines = sqlFolder({ 'migrations/0001_create_numbers.sql': FIRST.replaceAll('\n', '\r\n') });
    await migrate(connection, { folder: sameButWindowsLines, fsync: true }, never);
  });

  it('that are missing, late, misnamed or have a duplicate number are refused', async () => {
    const connection = connect();
    const folder = sqlFolder({ 'migrations/0001_create_numbers.sql': FIRST, 'migrations/0003_add_two.sql': SECOND });
    await migrate(connection, { folder, fsync: true }, never);
    const attempt = (files: Record<string, string>) =>
      migrate(connection, { folder: sqlFolder(files), fsync: true }, never);
    const one = { 'migrations/0001_create_numbers.sql': FIRST };
    await expect(attempt(one)).rejects.toThrow(
      /^database migrate_\d+ at http:\S+ has migration 0003_add_two\.sql \(applied on .*\), which this version of Chancery does not have/,
    );
    const late = { ...one, 'migrations/0003_add_two.sql': SECOND, 'migrations/0002_late.sql': SECOND };
    await expect(attempt(late)).rejects.toThrow('0002_late.sql comes before 0003_add_two.sql');
    await expect(attempt({ 'migrations/1_x.sql': '' })).rejects.toThrow('must be named like');
    await expect(attempt({ ...one, 'migrations/0001_other.sql': '' })).rejects.toThrow('have the same number');
  });

  it('end `chancery migrate` with one line and exit code 2 when the database has others', async () => {
    const folder = sqlFolder({ 'migrations/0001_create_numbers.sql': FIRST });
    await migrate(connect(), { folder, fsync: true }, never);
    const { url, user, password } = context.clickhouse.endpoint.owner;
    const env = { CLICKHOUSE_USER: user, CLICKHOUSE_PASSWORD: password.reveal() };
    const { code, out, err } = await chancery(['migrate', '--clickhouse-url', url, '--database', database], { env });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(
      new RegExp(`^chancery: database ${database} at ${url} has migration 0001_create_numbers\\.sql .*--data.*\\n$`),
    );
  });

  it('report which statement of which file failed, and continue when it is fixed', async () => {
    const connection = connect();
    const broken = {
      'migrations/0001_create_numbers.sql': FIRST,
      'migrations/0002_add_two.sql': 'SELECT 1; SELECT broken',
    };
    const error = await migrate(connection, { folder: sqlFolder(broken), fsync: true }, never).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toMatch(/^0002_add_two\.sql, statement 2 of 2: ClickHouse: .*broken/);
    const fixed = sqlFolder({ ...broken, 'migrations/0002_add_two.sql': SECOND });
    expect((await migrate(connection, { folder: fixed, fsync: true }, never)).migrations).toEqual(['0002_add_two']);
  });

  it('are applied once when several processes start together', async () => {
    const folder = sqlFolder({
      'migrations/0001_create_numbers.sql': FIRST,
      'migrations/0002_add_two.sql': SECOND,
      'migrations/0003_add_three.sql': SECOND,
      'views/some/twofold.sql':
        'CREATE OR REPLACE VIEW {database}.twofold AS SELECT n * 2 AS n FROM {database}.numbers',
    });
    const results = await Promise.all([1, 2, 3, 4].map(() => migrate(connect(), { folder, fsync: true }, never)));
    expect(results.flatMap((r) => r.migrations).sort()).toEqual([
      '0001_create_numbers',
      '0002_add_two',
      '0003_add_three',
    ]);
    expect(await connect().query(`SELECT n FROM ${database}.twofold ORDER BY n`)).toEqual([
      { n: 2 },
      { n: 4 },
      { n: 6 },
    ]);
  });

  it('take over the lock of a dead process', async () => {
    const folder = sqlFolder({ 'migrations/0001_create_numbers.sql': FIRST });
    const connection = connect();
    await context.clickhouse.run(`CREATE DATABASE ${database}`);
    await context.clickhouse.run(
      `CREATE TABLE ${database}.migration_lock (held UInt8) ENGINE = Memory COMMENT 'dead 3'`,
    );
    let now = 0;
    const clock = {
      nowMs: () => now,
      elapsedMs: () => now,
      nowMicros: () => now * 1000,
      sleep: async () => {
        now += 2000;
      },
    };
    expect((await migrate(connection, { folder, fsync: true, clock }, never)).migrations).toHaveLength(1);
  });

  it('fill placeholders and refuse unknown ones', async () => {
    const connection = connect();
    const folder = sqlFolder({
      'migrations/0001_create_states.sql': `
        CREATE TABLE IF NOT EXISTS {database}.states (id String, version UInt64, day Date)
        ENGINE = {engine:ReplacingMergeTree(version)} PARTITION BY toYYYYMM(day) ORDER BY id
        TTL day + INTERVAL {keep_days} DAY SETTINGS {view_settings}`,
    });
    await migrate(connection, { folder, fsync: false, values: { keep_days: 30 } }, never);
    const [table] = await connection.query<{ engine_full: string }>(
      `SELECT engine_full FROM system.tables WHERE database = '${database}' AND name = 'states'`,
    );
    expect(table?.engine_full).toContain('ReplacingMergeTree(version)');
    expect(table?.engine_full).toContain('toIntervalDay(30)');
    expect(table?.engine_full).toContain('non_replicated_deduplication_window = 0, fsync_after_insert = 0');

    await migrate(connection, { folder, fsync: true, values: { keep_days: 30 } }, never);
    const [flushed] = await connection.query<{ engine_full: string }>(
      `SELECT engine_full FROM system.tables WHERE database = '${database}' AND name = 'states'`,
    );
    expect(flushed?.engine_full).toContain('fsync_after_insert = 1, fsync_part_directory = 1');
    await expect(migrate(connect('other'), { folder, fsync: true }, never)).rejects.toThrow(
      '0001_create_states.sql has the unknown placeholder {keep_days}; known: database, log_settings, view_settings',
    );
  });

  it('create tables in which an insert of a full batch writes one file for all columns', async () => {
    const connection = connect();
    const folder = sqlFolder({ 'migrations/0001_create_numbers.sql': FIRST });
    await migrate(connection, { folder, fsync: true }, never);
    await connection.command(`TRUNCATE TABLE ${database}.numbers`);
    await connection.command(
      `INSERT INTO ${database}.numbers (n) SELECT number FROM numbers(1_000_000) SETTINGS max_block_size = 1_000_000`,
    );
    const parts = await connection.query(
      `SELECT part_type, data_uncompressed_bytes > 10 * 1024 * 1024 AS large FROM system.parts WHERE database = '${database}' AND table = 'numbers' AND active`,
    );
    expect(parts).toEqual([{ part_type: 'Compact', large: 1 }]);
  });
});

describe('views', () => {
  const table = { 'migrations/0001_create_numbers.sql': FIRST };
  const view = (name: string, select: string) => `CREATE OR REPLACE VIEW {database}.${name} AS ${select}`;

  it('are created after the views they read, and replaced when one of those changes', async () => {
    const connection = connect();
    const files = {
      ...table,
      'views/a/first.sql': view('first', 'SELECT n + 1 AS n FROM {database}.second'),
      'views/b/second.sql': view('second', 'SELECT n + 10 AS n FROM {database}.third'),
      'views/a/third.sql': view('third', "SELECT n, 'first' AS text FROM {database}.numbers -- not: first"),
    };
    const made = await migrate(connection, { folder: sqlFolder(files), fsync: true }, never);
    expect(made.views).toEqual(['third', 'second', 'first']);
    expect(await connection.query(`SELECT n FROM ${database}.first`)).toEqual([{ n: 12 }]);

    files['views/b/second.sql'] = view('second', 'SELECT n + 100 AS n FROM {database}.third');
    const replaced = await migrate(connection, { folder: sqlFolder(files), fsync: true }, never);
    expect(replaced.views).toEqual(['second', 'first']);
    expect(await connection.query(`SELECT n FROM ${database}.first`)).toEqual([{ n: 102 }]);
  });

  it('have their parameters', async () => {
    const folder = sqlFolder({
      ...table,
      'views/a/above.sql': view('above', 'SELECT n FROM {database}.numbers WHERE n >= {least:UInt64}'),
    });
    await migrate(connect(), { folder, fsync: true }, never);
    expect(await connect().query(`SELECT n FROM ${database}.above(least = 1)`)).toEqual([{ n: 1 }]);
    expect(await connect().query(`SELECT n FROM ${database}.above(least = 2)`)).toEqual([]);
  });

  it('have the question in their first line as COMMENT', async () => {
    const sql = `-- What is *one's* number?\n-- A formula.\n${view('one', 'SELECT 1 AS n UNION ALL SELECT 2 AS n')};\n`;
    await migrate(connect(), { folder: sqlFolder({ ...table, 'views/a/one.sql': sql }), fsync: true }, never);
    const [row] = await connect().query(
      `SELECT comment FROM system.tables WHERE database = '${database}' AND name = 'one'`,
    );
    expect(row).toEqual({ comment: "What is *one's* number?" });
  });

  it('know the streams, which are part of their checksum', async () => {
    const topics = 'transform(stream, {streams}, {stream_topics}) AS topic';
    const sql = view('listed', `SELECT arrayJoin({event_streams}) AS stream, ${topics}, '{stream_names}' AS names`);
    const folder = sqlFolder({ ...table, 'views/a/listed.sql': sql });
    await migrate(connect(), { folder, fsync: true }, never);
    const names = 'order-book, chance, orders, balance or feed';
    expect(await connect().query(`SELECT * FROM ${database}.listed`)).toEqual([
      { stream: 'order-book', topic: 'chancery.order-book', names },
      { stream: 'chance', topic: 'chancery.chance', names },
    ]);
    const filled = sql.replace('{event_streams}', "['order-book', 'chance']").replace('{stream_names}', names);
    const same = sqlFolder({ ...table, 'views/a/listed.sql': filled });
    expect((await migrate(connect(), { folder: same, fsync: true }, never)).views).toEqual([]);
    const fewer = sqlFolder({ ...table, 'views/a/listed.sql': filled.replace(", 'chance'", '') });
    expect((await migrate(connect(), { folder: fewer, fsync: true }, never)).views).toEqual(['listed']);
  });

  it('are created again when they were dropped, and dropped when their file is removed', async () => {
    const connection = connect();
    const folder = sqlFolder({ ...table, 'views/a/one.sql': view('one', 'SELECT 1 AS x') });
    await migrate(connection, { folder, fsync: true }, never);
    await connection.command(`DROP VIEW ${database}.one`);
    expect((await migrate(connection, { folder, fsync: true }, never)).views).toEqual(['one']);
    expect((await migrate(connection, { folder: sqlFolder(table), fsync: true }, never)).dropped).toEqual(['one']);
    expect(
      await connection.query(`SELECT name FROM system.tables WHERE database = '${database}' AND name = 'one'`),
    ).toEqual([]);
  });

  it('that form a cycle, or do not match their file name, are refused', async () => {
    const attempt = (files: Record<string, string>) =>
      migrate(connect(), { folder: sqlFolder({ ...table, ...files }), fsync: true }, never);
    await expect(
      attempt({
        'views/a/one.sql': view('one', 'SELECT * FROM {database}.two'),
        'views/a/two.sql': view('two', 'SELECT * FROM {database}.one'),
      }),
    ).rejects.toThrow('views form a cycle: one → two → one');
    await expect(attempt({ 'views/a/one.sql': view('other', 'SELECT 1') })).rejects.toThrow(
      'one.sql must be one statement that begins with CREATE OR REPLACE VIEW {database}.one',
    );
  });
});

describe('the check of columns', () => {
  const ticks = logTable({ name: 'ticks', columns: [['price', 'Nullable(Float64)']] });
  const states = replacingTable({
    name: 'states',
    columns: [
      ['id', 'String'],
      ['seen', 'UInt64'],
    ],
    id: ['id'],
    version: 'seen',
  });
  const position = '_log LowCardinality(String), _partition UInt32, _offset UInt64, _index UInt32';
  const create = (name: string, columns: string, engine: string, order: string, settings = '{log_settings}') =>
    `CREATE TABLE IF NOT EXISTS {database}.${name} (${position}, ${columns}) ENGINE = {engine:${engine}} ORDER BY ${order} SETTINGS ${settings};`;
  const apply = async (sql: string) => {
    const connection = connect();
    await migrate(connection, { folder: sqlFolder({ 'migrations/0001_create.sql': sql }), fsync: true }, never);
    return checkColumns(connection, [ticks, states]);
  };
  const goodStates = create('states', 'id String, seen UInt64', 'ReplacingMergeTree(seen)', 'id');

  it('passes when code and tables match; additional columns with defaults are allowed', async () => {
    await apply(create('ticks', 'price Nullable(Float64), extra UInt8 DEFAULT 1', 'MergeTree', '_offset') + goodStates);
  });

  it('reports every difference', async () => {
    await expect(apply(goodStates)).rejects.toThrow('table ticks does not exist; run `chancery migrate`');
    number += 1;
    database = `migrate_${number}b`;
    await expect(
      apply(
        create('ticks', 'prize Float64', 'MergeTree', '_offset', 'index_granularity = 8192') +
          create('states', 'id String, seen UInt32', 'MergeTree', '(_log, id)') +
          'CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.mv ENGINE = MergeTree ORDER BY n AS SELECT count() AS n FROM {database}.ticks',
      ),
    ).rejects.toThrow(
      [
        'does not match this version of Chancery: column ticks.price does not exist',
        'column ticks.prize has no default and is not written',
        'table ticks was created without {log_settings}',
        'table ticks feeds the materialized view mv, which the code does not know',
        'column states.seen is UInt32, not UInt64',
        'table states has engine MergeTree, which does not match its kind replacing',
        'table states is sorted by (_log, id), not by (id)',
      ].join('; '),
    );
  });
});
