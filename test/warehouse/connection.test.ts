import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isRetryable } from '../../core/index.js';
import {
  Connection,
  ConnectionError,
  logTable,
  RowBinaryWriter,
  StatementError,
  type TableBlock,
} from '../../warehouse/index.js';
import { useDatabase } from '../support/database.js';
import { freePort } from '../support/free-ports.js';

const context = useDatabase({ migrated: false });
const table = logTable({ name: 'rows', columns: [['text', 'String']] });
const connections: Connection[] = [];

function connect(url = context.database.owner.url, timeoutMs = 5000): Connection {
  const endpoint = { ...context.database.owner, url };
  const connection = new Connection({ endpoint, database: context.database.name, application: 'test', timeoutMs });
  connections.push(connection);
  return connection;
}

function block(texts: readonly string[]): TableBlock {
  const writer = new RowBinaryWriter();
  texts.forEach((text, offset) => {
    writer.string('log');
    writer.u32(0);
    writer.u64(offset);
    writer.u32(0);
    writer.string(text);
  });
  return { table, rows: texts.length, body: writer.take() };
}

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

beforeAll(async () => {
  await context.database.run(
    `CREATE TABLE rows (_log LowCardinality(String), _partition UInt32, _offset UInt64, _index UInt32, text String)
     ENGINE = MergeTree ORDER BY _offset`,
  );
});
afterAll(async () => {
  for (const connection of connections) await connection.close();
});

describe('a connection', () => {
  it('returns rows for parameters, exact integers and any text', async () => {
    const text = "quote ' back \\ tab \t null \0 ü 😀";
    const rows = await connect().query('SELECT {n:UInt64} AS n, {t:String} AS t, {a:Array(String)} AS a', {
      n: Number.MAX_SAFE_INTEGER,
      t: text,
      a: [text, ''],
    });
    expect(rows).toEqual([{ n: Number.MAX_SAFE_INTEGER, t: text, a: [text, ''] }]);
  });

  it('treats every error code as transient that is not known to be permanent', async () => {
    const connection = connect();
    const cases: [string, number, boolean][] = [
      ['SELECT * FROM nowhere', 60, false],
      ['SELECT nothing', 47, false],
      ['SELEC 1', 62, false],
      [
        'SELECT count() FROM (SELECT number FROM numbers(1e7) GROUP BY number) SETTINGS max_memory_usage = 1000000',
        241,
        true,
      ],
      ['SELECT count() FROM numbers(1e12) SETTINGS max_execution_time = 0.01', 159, true],
      ['SELECT throwIf(1)', 395, true],
    ];
    for (const [sql, code, retryable] of cases) {
      const error = await thrownBy(connection.query(sql));
      expect(error, sql).toBeInstanceOf(StatementError);
      expect(error, sql).toMatchObject({ code, retryable });
      expect((error as Error).message).toMatch(/^ClickHouse: [^\n]*$/);
      expect((error as Error).message).not.toContain('version');
    }
  });

  it('reports a server that does not respond', async () => {
    const connection = connect(`http://127.0.0.1:${await freePort()}`);
    for (const work of [
      () => connection.query('SELECT 1'),
      () => connection.command('SELECT 1'),
      () => connection.insert(block(['x']), { queryId: 'a', settings: {} }),
    ]) {
      const error = await thrownBy(work());
      expect(error).toBeInstanceOf(ConnectionError);
      expect(isRetryable(error)).toBe(true);
      expect((error as Error).message).toContain('ECONNREFUSED');
    }
    expect(await connection.answers()).toBe(false);
    expect(await connect().answers()).toBe(true);
  });

  it('inserts a block, sends one with a query, and sends nothing after a failed check', async () => {
    const connection = connect();
    const insert = { queryId: 'b', settings: { async_insert: 0 } };
    const refused = new Error('not now');
    const beforeSend = () => {
      throw refused;
    };
    expect(await thrownBy(connection.insert(block(['never']), { ...insert, beforeSend }))).toBe(refused);
    await connection.insert(block(['one', 'two']), insert);
    expect(await connection.query(`SELECT text FROM ${context.database.name}.rows ORDER BY _offset`)).toEqual([
      { text: 'one' },
      { text: 'two' },
    ]);
    const big = block(Array.from({ length: 5000 }, (_, i) => `\r\n--${i}\0`));
    const answer = await connection.queryWithBlock(
      'SELECT count() AS n, max(_offset) AS last, any(text) AS t FROM block',
      big,
    );
    expect(answer).toEqual({ n: 5000, last: 4999, t: '\r\n--0\0' });
  });

  it('refuses an empty response without an error, which ClickHouse sends when its disk is full', async () => {
    const server = createServer((incoming, response) => {
      incoming
        .resume()
        .on('end', () => response.writeHead(200, { 'x-clickhouse-summary': '{"result_rows":"1"}' }).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const connection = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    for (const work of [
      () => connection.query('SELECT count() AS n FROM rows'),
      () => connection.queryWithBlock('SELECT count() AS n FROM block', block(['x'])),
    ]) {
      const error = await thrownBy(work());
      expect(error).toBeInstanceOf(ConnectionError);
      expect((error as Error).message).toContain('is incomplete');
    }
  });

  it('rejects with the reason of an aborted signal, before and during a request', async () => {
    const aborted = AbortSignal.abort(new Error('before'));
    await expect(connect().query('SELECT 1', {}, aborted)).rejects.toThrow('before');
    await expect(connect().insert(block(['x']), { queryId: 'c', settings: {}, signal: aborted })).rejects.toThrow(
      'before',
    );
    const controller = new AbortController();
    const sleeping = connect().query('SELECT sleep(3)', {}, controller.signal);
    setTimeout(() => controller.abort(new Error('during')), 50);
    await expect(sleeping).rejects.toThrow('during');
  });
});

describe('an insert is not acknowledged', () => {
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  /** A server that is not ClickHouse, or a faulty one. */
  async function fake(answer: (response: ServerResponse) => void, timeoutMs = 5000): Promise<unknown> {
    const server = createServer((incoming, response) => {
      incoming.resume().on('end', () => answer(response));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const connection = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs);
    return thrownBy(connection.insert(block(['x']), { queryId: 'mine', settings: {} }));
  }
  const ours = { 'x-clickhouse-query-id': 'mine' };

  it('when a proxy responds instead of ClickHouse', async () => {
    expect(await fake((r) => r.writeHead(200, ours).end())).toBeUndefined();
    const stranger = await fake((r) => r.writeHead(200).end('welcome'));
    expect(stranger).toBeInstanceOf(ConnectionError);
    expect((stranger as Error).message).toContain('is not from ClickHouse');
    expect(await fake((r) => r.writeHead(200, { 'x-clickhouse-query-id': 'another' }).end())).toBeInstanceOf(
      ConnectionError,
    );
    expect(await fake((r) => r.writeHead(502).end('<html>bad gateway</html>'))).toBeInstanceOf(ConnectionError);
  });

  it('when the response contains an error, with any status', async () => {
    const error = await fake((r) =>
      r.writeHead(200, { ...ours, 'x-clickhouse-exception-code': '252' }).end('Code: 252. no'),
    );
    expect(error).toMatchObject({ code: 252, retryable: true });
  });

  it('when the response is truncated or missing', async () => {
    const cut = await fake((r) => {
      r.writeHead(200, { ...ours, 'content-length': '100' });
      r.write('x', () => r.socket?.destroy());
    });
    expect(cut).toBeInstanceOf(ConnectionError);
    expect(await fake(() => undefined, 300)).toBeInstanceOf(ConnectionError);
  });
});
