import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@clickhouse/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../../cli/sql/query.js';

const FORMAT = 'JSONEachRow';

/** The text of the answer of a server that sends this body and reports this number of rows. */
async function answered(body: string, rows: number): Promise<string> {
  const server = createServer((incoming, response) => {
    const headers = { 'x-clickhouse-format': FORMAT, 'x-clickhouse-summary': `{"result_rows":"${rows}"}` };
    incoming.resume().on('end', () => response.writeHead(200, headers).end(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  onTestFinished(() => client.close());
  const answer = await ask(client, 'SELECT 1', 'json');
  expect(answer.inOurFormat).toBe(true);
  let text = '';
  for await (const chunk of answer.body) text += String(chunk);
  return text;
}

describe('the answer to a statement', () => {
  it('is the body of the response', async () => {
    expect(await answered('{"a":1}\n', 1)).toBe('{"a":1}\n');
    expect(await answered('', 0)).toBe('');
  });

  it('is an error when ClickHouse found rows and sends none, as it does when its disk is full', async () => {
    await expect(answered('', 1)).rejects.toThrow('the result is empty although ClickHouse found rows');
  });
});
