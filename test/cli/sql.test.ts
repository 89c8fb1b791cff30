import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { claimLayout } from '../../cli/service/instance.js';
import { createLogger } from '../../core/index.js';
import { EmbeddedClickHouse } from '../../warehouse/index.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { chancery, commandLine, MAIN } from './command.js';

/** Writes until the pipe is full; returns the number of bytes. */
function fill(pipe: number): number {
  for (let written = 0; ; ) {
    try {
      written += writeSync(pipe, '.');
    } catch {
      return written;
    }
  }
}

/** The current content of the pipe. */
function takeAll(pipe: number): string {
  const piece = Buffer.alloc(100_000);
  try {
    return piece.toString('latin1', 0, readSync(pipe, piece));
  } catch {
    return '';
  }
}

describe('chancery sql', () => {
  const server = useClickHouse();
  const sql = (...args: string[]) => commandLine(['sql', '--data', server.clickhouse.dataFolder, ...args]);

  beforeAll(async () => {
    await server.clickhouse.run('CREATE DATABASE chancery');
    await server.clickhouse.run(`
      CREATE TABLE chancery.prices ENGINE = MergeTree ORDER BY id AS
      SELECT number AS id, ['Rain', 'Snow, "wet"', 'Sun'][number + 1] AS title, if(number = 2, NULL, number / 4) AS last
      FROM numbers(3)`);
    await server.clickhouse.run('CREATE VIEW chancery.candles AS SELECT {period_seconds:UInt32} AS open');
  });

  it('prints an aligned table', async () => {
    expect(await sql('SELECT * FROM prices ORDER BY id')).toEqual({
      code: 0,
      err: '',
      out: [
        'id  title        last',
        '──  ───────────  ────',
        ' 0  Rain         0',
        ' 1  Snow, "wet"  0.25',
        ' 2  Sun             ∅',
        '',
      ].join('\n'),
    });
  });

  it('prints valid JSON', async () => {
    const { out } = await sql('--format', 'json', 'SELECT * FROM prices ORDER BY id;');
    expect(JSON.parse(out)).toEqual([
      { id: 0, title: 'Rain', last: 0 },
      { id: 1, title: 'Snow, "wet"', last: 0.25 },
      { id: 2, title: 'Sun', last: null },
    ]);
    expect(JSON.parse((await sql('--format', 'json', 'SELECT * FROM prices WHERE id > 9')).out)).toEqual([]);
  });

  it('prints CSV, also of more than one chunk', async () => {
    const { out } = await sql('--format', 'csv', 'SELECT * FROM prices WHERE id < 2 ORDER BY id');
    expect(out).toBe('"id","title","last"\n0,"Rain",0\n1,"Snow, ""wet""",0.25\n');
    const many = await sql('--format', 'csv', 'SELECT number FROM numbers(300000)');
    expect(many.out.split('\n')).toHaveLength(300_002);
  });

  it('passes the whole result to a slow reader', async () => {
    const pipe = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const writer = openSync(pipe, 'w');
    const before = fill(reader);
    const args = ['sql', '--data', server.clickhouse.dataFolder, '--format', 'csv', "SELECT repeat('x', 5000) AS text"];
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', writer, 'inherit'] });
    const exited = once(child, 'exit');
    await Promise.race([exited, setTimeout(1500)]);
    let there = '';
    do {
      there += takeAll(reader);
      await setImmediate();
    } while (child.exitCode === null);
    await exited;
    there += takeAll(reader);
    for (const fd of [reader, writer]) closeSync(fd);
    expect(there.slice(before)).toBe(`"text"\n"${'x'.repeat(5000)}"\n`);
  });

  it('prints NULL as an empty field in CSV, and an empty text as ""', async () => {
    const { out } = await sql('--format', 'csv', "SELECT id, last, '' AS text FROM prices WHERE id > 0 ORDER BY id");
    expect(out).toBe('"id","last","text"\n1,0.25,""\n2,,""\n');
  });

  it('prints every digit, and NULL in arrays, in every format', async () => {
    const question =
      "SELECT toDecimal128('12345678901234567890.123456789012', 12) AS d, [[1, NULL], []] AS a, toDateTime64('2026-11-21 12:30:00.000001', 6, 'UTC') AS t";
    const exact = '12345678901234567890.123456789012';
    expect((await sql(question)).out).toContain(`\n${exact}  [[1,NULL],[]]  2026-11-21 12:30:00.000001\n`);
    expect((await sql('--format', 'json', question)).out).toBe(
      `[\n{"d":${exact},"a":[[1,null],[]],"t":"2026-11-21 12:30:00.000001"}\n]\n`,
    );
    expect((await sql('--format', 'csv', question)).out).toBe(
      `"d","a","t"\n${exact},"[[1,NULL],[]]","2026-11-21 12:30:00.000001"\n`,
    );
  });

  it('does not change the output of a statement with a FORMAT clause', async () => {
    expect((await sql('SELECT 1 AS a FORMAT TSKV')).out).toBe('a=1\n');
  });

  it('reads the statement from standard input', async () => {
    const { out } = await chancery(['sql', '--data', server.clickhouse.dataFolder, '--format', 'csv'], {
      input: 'SELECT 1 AS one\n',
    });
    expect(out).toBe('"one"\n1\n');
  });

  it.each([
    ['SELEC 1', 1, 'chancery: Syntax error: failed at position 7 (1): 1\n'],
    ['SELECT nothing FROM prices', 1, /^chancery: Unknown expression identifier `nothing` in scope [^\n]+\n$/],
    [
      'SELECT count() FROM candles',
      1,
      /^chancery: [^\n]+; candles needs parameters: candles\(period_seconds = 60\)\n$/,
    ],
    ['SELECT open FROM candles()', 1, /^chancery: [^\n]+; candles needs parameters[^\n]+\n$/],
    ['SELECT 1; SELECT 2', 1, /^chancery: Syntax error \(Multi-statements are not allowed\)[^\n]+\n$/],
    ["INSERT INTO prices VALUES (9, 'x', 1)", 1, /^chancery: [^\n]*Not enough privileges[^\n]+only reads[^\n]+\n$/],
    ['DROP TABLE prices', 1, /^chancery: [^\n]*only reads[^\n]+\n$/],
    ["SELECT * FROM url('http://127.0.0.1:1', CSV, 'a Int8')", 1, /^chancery: [^\n]*Not enough privileges[^\n]+\n$/],
    ["SELECT throwIf(number = 70000, 'too far') FROM numbers(100000)", 1, /^chancery: too far[^\n]*\n$/],
    ['  ', 2, 'chancery: there is no statement to run: chancery sql "SELECT 1"\n'],
  ])('says in one line what is wrong with %s', async (statement, code, message) => {
    const answer = await sql(statement);
    expect({ code: answer.code, out: answer.out }).toEqual({ code, out: '' });
    if (typeof message === 'string') expect(answer.err).toBe(message);
    else expect(answer.err).toMatch(message);
  });

  it('refuses an unknown format', async () => {
    const { code, err } = await sql('--format', 'xml', 'SELECT 1');
    expect(code).toBe(2);
    expect(err).toMatch('chancery: --format is "xml": it must be one of table, json, csv; try --help\n');
  });

  it('opens a prompt that runs multi-line statements and shows how to connect with other tools', async () => {
    const { code, out, err } = await chancery(['sql', '--data', server.clickhouse.dataFolder, '--console'], {
      input: 'SELECT\n  1 AS one;\nSELECT nonsense;\nSELECT 2 AS two;\nexit\nSELECT 3;\n',
    });
    expect(code).toBe(0);
    expect(out).toBe('one\n───\n  1\ntwo\n───\n  2\n');
    expect(err).toContain(`web console        ${server.clickhouse.endpoint.url}/play?user=reader&password=`);
    expect(err).toContain(
      `Grafana            host 127.0.0.1, protocol HTTP, port ${new URL(server.clickhouse.endpoint.url).port}`,
    );
    expect(err).toMatch(/\nUnknown expression identifier `nonsense`[^\n]+\n/);
  });

  it('queries an external ClickHouse, read-only as well', async () => {
    const env = {
      CLICKHOUSE_URL: server.clickhouse.endpoint.url,
      CLICKHOUSE_USER: 'owner',
      CLICKHOUSE_PASSWORD: server.clickhouse.endpoint.owner.password.reveal(),
    };
    expect((await commandLine(['sql', 'SELECT max(id) AS m FROM prices', '--format', 'csv'], { env })).out).toBe(
      '"m"\n2\n',
    );
    const csv = ['sql', 'SELECT last FROM prices WHERE id = 2', '--format', 'csv'];
    expect((await commandLine(csv, { env })).out).toBe('"last"\n\n');
    const wrong = await commandLine(['sql', 'SELECT 1'], { env: { ...env, CLICKHOUSE_PASSWORD: 'x' } });
    expect(wrong.code).toBe(2);
    expect(wrong.err).toMatch(/^chancery: ClickHouse at http:[^ ]+ rejects the connection: [^\n]*owner[^\n]*\n$/);
    const write = await commandLine(['sql', 'TRUNCATE TABLE prices'], { env });
    expect(write.code).toBe(1);
    expect(write.err).toMatch(/^chancery: [^\n]*readonly[^\n]*only reads[^\n]*\n$/);
    expect(await server.clickhouse.rows('SELECT count() AS n FROM chancery.prices')).toEqual([{ n: 3 }]);
  });
});

describe('chancery sql without a running ClickHouse', () => {
  it('starts the embedded one for the session, and leaves nothing running', async () => {
    const data = temporaryFolder();
    claimLayout(data);
    const options = { dataFolder: data, database: 'chancery', httpPort: 0, memoryBytes: 2e9 };
    const server = new EmbeddedClickHouse({ ...options, logger: createLogger({ service: 'test', level: 'fatal' }) });
    await server.start(new AbortController().signal);
    const { url, password } = server.endpoint.owner;
    const run = (query: string) =>
      fetch(url, {
        method: 'POST',
        body: query,
        headers: { 'X-ClickHouse-User': 'owner', 'X-ClickHouse-Key': password.reveal() },
      });
    await run('CREATE DATABASE chancery');
    await run('CREATE TABLE chancery.kept ENGINE = MergeTree ORDER BY n AS SELECT 7 AS n');
    await server.stop();

    const answer = await chancery(['sql', '--data', data, '--format', 'csv', 'SELECT n FROM kept']);
    expect(answer).toEqual({ code: 0, out: '"n"\n7\n', err: '' });
    const limited = (...args: string[]) => chancery(['sql', '--data', data, '--format', 'csv', ...args]);
    const rows = await limited('--reader-max-rows', '5', 'SELECT number FROM numbers(6)');
    expect(rows).toMatchObject({ code: 1, out: '' });
    expect(rows.err).toMatch(
      /^chancery: [^\n]+; no row was printed: add LIMIT, [^\n]+ raise --reader-max-rows [^\n]+\n$/,
    );
    expect((await limited('--reader-max-rows', '5', 'SELECT number FROM numbers(5)')).out).toMatch(
      /^"number"\n0\n.*\n4\n$/s,
    );
    const endless = 'SELECT sum(cityHash64(number)) FROM numbers(1000000000000)';
    const seconds = await limited('--reader-max-seconds', '1', endless);
    expect(seconds).toMatchObject({ code: 1, out: '' });
    expect(seconds.err).toMatch(/^chancery: Timeout exceeded[^\n]+ raise --reader-max-seconds [^\n]+\n$/);
    // A query may use half of it: 250 MB, and 2^25 numbers take 256 MiB.
    const memory = await limited(
      '--clickhouse-memory',
      '5e8',
      'SELECT length(groupArray(number)) FROM numbers(33554432)',
    );
    expect(memory).toMatchObject({ code: 1, out: '' });
    expect(memory.err).toMatch(/^chancery: [^\n]*memory limit exceeded[^\n]+ raise --clickhouse-memory [^\n]+\n$/);
    expect(() => readFileSync(join(data, 'clickhouse/endpoint.json'))).toThrow('ENOENT');
    expect(statSync(join(data, 'clickhouse/credentials.json')).mode & 0o777).toBe(0o600);
  });

  it('reports a missing data folder, one without data, or an address without a server', async () => {
    const nowhere = await commandLine(['sql', '--data', '/nowhere/at/all', 'SELECT 1']);
    expect(nowhere.code).toBe(2);
    expect(nowhere.err).toMatch(
      /^chancery: data folder \/nowhere\/at\/all does not exist; start recording with [^\n]+\n$/,
    );
    const noServer = await commandLine(['sql', '--clickhouse-url', 'http://127.0.0.1:1', 'SELECT 1']);
    expect(noServer.code).toBe(1);
    expect(noServer.err).toMatch(/^chancery: ClickHouse at http:\/\/127\.0\.0\.1:1 does not respond; [^\n]+\n$/);
  });
});
