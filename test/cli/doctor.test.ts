import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../core/index.js';
import { startExchange } from '../../exchange/index.js';
import { chancery, temporaryFolder } from './command.js';

interface Finding {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  mend?: string;
}

async function doctor(...args: string[]): Promise<{ code: number | null; findings: Map<string, Finding> }> {
  const { code, out } = await chancery(['doctor', '--json', ...args]);
  const findings = JSON.parse(out) as Finding[];
  return { code, findings: new Map(findings.map((f) => [f.check, f])) };
}

describe('chancery doctor', () => {
  it('finds nothing wrong on a machine where everything can run', async () => {
    const data = temporaryFolder();
    const { code, findings } = await doctor('--data', data);
    expect([...findings.values()].filter((f) => f.state === 'fail')).toEqual([]);
    expect(code).toBe(0);
    expect([...findings.keys()]).toEqual([
      'Node.js',
      'data folder',
      'disk space',
      'ClickHouse library',
      'ClickHouse',
      'exchange',
      'clock',
    ]);
    expect(findings.get('Node.js')?.found).toContain(process.version);
    expect(findings.get('data folder')?.found).toBe(`${data} is writable`);
  });

  it('prints a line per check for a person, and how to mend what is wrong', async () => {
    const { code, out } = await chancery(['doctor', '--exchange-url', 'http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(out).toMatch(/^ok {4}Node\.js: v20/m);
    expect(out).toMatch(/^FAIL {2}exchange: [^\n]*could not be reached[^\n]*\n {6}to mend: check --exchange-url/m);
  });

  it('reaches the exchange that is configured and compares clocks', async () => {
    const exchange = await startExchange(
      { port: 0, events: 1, bots: 0 },
      { log: createLogger({ part: 'exchange', level: 'fatal' }) },
    );
    onTestFinished(() => exchange.close());
    const { code, findings } = await doctor('--exchange-url', exchange.ready.url);
    expect(code).toBe(0);
    expect(findings.get('exchange')).toMatchObject({ state: 'ok', found: expect.stringContaining('answers in') });
    expect(findings.get('clock')).toMatchObject({ state: 'ok' });
  });

  it('warns when the exchange lives at another time', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { date: new Date(Date.now() - 3_600_000).toUTCString() }).end('[]');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, findings } = await doctor('--exchange-url', url);
    expect(code).toBe(0);
    expect(findings.get('clock')).toMatchObject({ state: 'warn', mend: 'let the clock be set by NTP' });
    expect(findings.get('clock')?.found).toMatch(/^3(599|600)\.\d s ahead of the exchange's$/);
  });

  it('tells a port that is taken by another program', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { code, findings } = await doctor('--clickhouse-port', String(port));
    expect(code).toBe(1);
    expect(findings.get('port of ClickHouse')).toMatchObject({
      state: 'fail',
      found: `${port} is taken by another program`,
    });
  });

  it('tells a data folder that cannot be written', async () => {
    const { code, findings } = await doctor('--data', '/proc/chancery/data');
    expect(code).toBe(1);
    expect(findings.get('data folder')).toMatchObject({
      state: 'fail',
      found: expect.stringMatching(/^\/proc cannot be written \(E[A-Z]+\)$/),
    });
  });

  it('says that a ClickHouse that was named does not answer', async () => {
    const { code, findings } = await doctor('--clickhouse-url', 'http://127.0.0.1:1');
    expect(code).toBe(1);
    expect(findings.get('ClickHouse')).toMatchObject({
      state: 'fail',
      found: expect.stringContaining('does not answer'),
    });
    expect(findings.has('ClickHouse library')).toBe(false);
  });
});
