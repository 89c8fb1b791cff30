import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ReaderDatabase } from '../../viewer/database.js';

const never = new AbortController().signal;
const RESULT = JSON.stringify({ meta: [{ name: 'n', type: 'UInt8' }], data: [[1]], rows: 1 });

/** A database behind a server that answers as ClickHouse, or breaks the connection. */
async function databaseOf(listener: RequestListener): Promise<ReaderDatabase> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const database = new ReaderDatabase(async () => {
    const client = createClient({ url: `http://127.0.0.1:${port}`, log: { level: ClickHouseLogLevel.OFF } });
    return { client, close: () => client.close() };
  }, 30);
  onTestFinished(async () => {
    await database.close();
    server.closeAllConnections();
    server.close();
  });
  return database;
}

const query = (sql: string) => ({ sql, parameters: {} });

describe('a query of the viewer', () => {
  it('is asked again when its connection breaks, and others on the connection go on', async () => {
    const slow: (() => void)[] = [];
    let broken = 0;
    const database = await databaseOf((request, response) => {
      request.once('data', (body: Buffer) => {
        if (body.toString().includes('slow')) slow.push(() => response.end(RESULT));
        else if (broken++ === 0) request.socket.destroy();
        else response.end(RESULT);
      });
    });
    const other = database.query(query('SELECT slow'), never);
    await expect.poll(() => slow.length).toBe(1);
    expect((await database.query(query('SELECT 1'), never)).data).toEqual([[1]]);
    expect(broken).toBe(2);
    for (const answer of slow) answer();
    expect((await other).data).toEqual([[1]]);
    expect(slow).toHaveLength(1);
  });

  it('says why ClickHouse may have cancelled it', async () => {
    const database = await databaseOf((_, response) => {
      response
        .writeHead(500, { 'x-clickhouse-exception-code': '394' })
        .end('Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED)');
    });
    await expect(database.query(query('SELECT 1'), never)).rejects.toThrow(
      'ClickHouse cancelled the query: it took longer than 30 s, or it was killed',
    );
  });

  it('fails when its connection breaks again and again', async () => {
    const database = await databaseOf((request) => request.socket.destroy());
    await expect(database.query(query('SELECT 1'), never)).rejects.toThrow(/^ClickHouse does not respond: /);
  });
});
