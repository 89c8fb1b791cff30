import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { portsCheck } from '../../cli/doctor/ports.js';
import { announce } from '../../cli/service/registry.js';
import { DEFAULT_PORTS, resolveConfig } from '../../core/index.js';
import { startTestExchange } from '../support/exchange.js';
import { freePort } from '../support/free-ports.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { chancery } from './command.js';

interface Finding {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  fix?: string;
}

async function doctor(...args: string[]): Promise<{ code: number | null; findings: Map<string, Finding> }> {
  const { code, out } = await chancery(['doctor', '--json', ...args]);
  const findings = JSON.parse(out) as Finding[];
  return { code, findings: new Map(findings.map((f) => [f.check, f])) };
}

/** Listens on a free port until the test ends. */
async function listen(): Promise<number> {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
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
      'services',
      'ClickHouse library',
      'ClickHouse confinement',
      'ClickHouse',
      'ClickHouse rows',
      'ports',
      'exchange',
      'clock',
    ]);
    expect(findings.get('Node.js')?.found).toContain(process.version);
    expect(findings.get('data folder')?.found).toBe(`${data} is writable`);
  });

  it('prints a line per check for a person, and how to fix what is wrong', async () => {
    const { code, out } = await chancery(['doctor', '--exchange-url', 'http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(out).toMatch(/^ok {4}Node\.js: v20/m);
    expect(out).toMatch(/^FAIL {2}exchange: [^\n]*could not be reached[^\n]*\n {6}fix: check --exchange-url/m);
  });

  it('reaches the exchange that is configured and compares clocks', async () => {
    const { url } = await startTestExchange({ events: 1 });
    const { code, findings } = await doctor('--exchange-url', url);
    expect(code).toBe(0);
    expect(findings.get('exchange')).toMatchObject({ state: 'ok', found: expect.stringContaining('responds in') });
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
    expect(findings.get('clock')).toMatchObject({ state: 'warn', fix: 'synchronise the clock with NTP' });
    expect(findings.get('clock')?.found).toMatch(/^3(59|60)\d\.\d s ahead of the exchange's$/);
  });

  it('says of every port whether it is free, taken by another program, or used by this instance', async () => {
    const data = temporaryFolder();
    const free = await freePort();
    const [other, own] = [await listen(), await listen()];
    const entry = announce(data, 'exchange', { address: `http://127.0.0.1:${own}` });
    onTestFinished(() => entry.end());
    const { code, findings } = await doctor(
      ...['--data', data, '--exchange-port', String(own), '--clickhouse-port', String(free)],
      ...['--metrics-port', String(other)],
    );
    expect(code).toBe(1);
    expect(findings.get('services')).toMatchObject({ state: 'ok', found: 'exchange' });
    expect(findings.get('ports')).toMatchObject({
      state: 'fail',
      found: expect.stringMatching(
        `^${own} \\(simulated exchange\\) is used by this instance; ${free} \\(ClickHouse\\) is free; ` +
          `\\d+ \\(viewer\\) is [^;]+; ${other} \\(metrics\\) is taken by another program$`,
      ),
      fix: 'choose another with --metrics-port, or omit it to use a free one',
    });
  });

  it('says what `up` does when a default port is taken, for that is no failure', async () => {
    const [exchange, clickhouse, viewer] = [await listen(), await listen(), await listen()];
    const settings = { ...resolveConfig({}).settings, data: temporaryFolder() };
    const asked = { given: new Set<never>(), exchangePort: undefined, defaults: { exchange, clickhouse, viewer } };
    const finding = await portsCheck(settings, asked).run();
    expect(finding.state).toBe('ok');
    const [first, second] = finding.found.split('; ');
    expect(first).toMatch(`${exchange} (simulated exchange) is taken by another program, \`up\` uses `);
    expect(second).toMatch(`${clickhouse} (ClickHouse) is taken by another program, \`up\` uses `);
    const entry = announce(settings.data, 'clickhouse', { address: 'http://127.0.0.1:4711' });
    onTestFinished(() => entry.end());
    expect((await portsCheck(settings, asked).run()).found).toMatch(
      `${clickhouse} (ClickHouse) is taken by another program, this instance uses 4711`,
    );
  });

  it('looks at the default ports, and only at that of the viewer when the rest runs elsewhere', async () => {
    const { findings } = await doctor('--data', temporaryFolder());
    expect(findings.get('ports')?.found).toMatch(
      new RegExp(
        `^${DEFAULT_PORTS.exchange} \\(simulated exchange\\) is .*; ${DEFAULT_PORTS.clickhouse} \\(ClickHouse\\) is `,
      ),
    );
    const address = 'http://127.0.0.1:1';
    const { findings: elsewhere } = await doctor('--exchange-url', address, '--clickhouse-url', address);
    expect(elsewhere.get('ports')).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/^\d+ \(viewer\) is [^;]*$/),
    });
  });

  it('names a service that is not healthy and one that does not respond', async () => {
    const data = temporaryFolder();
    const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
    const lagging = createServer((_, response) =>
      response.writeHead(503).end('{"ok":false,"cause":"the bus is full"}'),
    );
    await Promise.all([once(hanging, 'listening'), once(lagging.listen(0, '127.0.0.1'), 'listening')]);
    const urlOf = (server: typeof hanging) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const entries = [
      announce(data, 'collect', { health: urlOf(lagging) }),
      announce(data, 'transform', { health: urlOf(hanging) }),
    ];
    onTestFinished(() => {
      for (const entry of entries) entry.end();
      for (const server of [hanging, lagging]) server.close();
      hanging.closeAllConnections();
    });
    const { code, findings } = await doctor('--data', data);
    expect(code).toBe(1);
    expect(findings.get('services')).toMatchObject({
      state: 'fail',
      found: expect.stringMatching(
        /^2 of 2 not healthy: collect \(pid \d+\): the bus is full; transform \(pid \d+\): no response: /,
      ),
      fix: expect.stringContaining('kill -9'),
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

  it('says that a ClickHouse that was named does not respond', async () => {
    const { code, findings } = await doctor('--clickhouse-url', 'http://127.0.0.1:1');
    expect(code).toBe(1);
    expect(findings.get('ClickHouse')).toMatchObject({
      state: 'fail',
      found: expect.stringContaining('does not respond'),
    });
    expect(findings.has('ClickHouse library')).toBe(false);
  });
});
