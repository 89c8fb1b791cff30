import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger, UsageError } from '../../core/index.js';
import { EXCHANGE_OPTIONS, type RunningExchange, readExchangeOptions, startExchange } from '../../exchange/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const log = createLogger({ service: 'exchange', level: 'silent' });

async function start(
  options: Record<string, unknown>,
  context: Parameters<typeof startExchange>[1] = {},
): Promise<RunningExchange> {
  const running = await startExchange({ port: 0, bots: 0, events: 2, ...options }, { log, ...context });
  onTestFinished(() => running.close());
  return running;
}

describe('options of the exchange', () => {
  it('have the documented defaults [8/heartbeat]', () => {
    const { quirks, ...rest } = readExchangeOptions();
    expect(rest).toEqual({
      host: '127.0.0.1',
      port: 9100,
      data: undefined,
      seed: 1,
      events: 40,
      bots: 24,
      pace: 1,
      accounts: 3,
      takerFeeBps: 20,
      printBots: false,
      load: 0,
    });
    expect(quirks.eventShape).toBe('both');
  });

  it('are read from texts as from values', () => {
    const read = readExchangeOptions({
      port: '0',
      seed: 7,
      pace: '0.5',
      load: '5000',
      quirks: 'rate-limit=3',
      host: '::1',
    });
    expect(read).toMatchObject({ port: 0, seed: 7, pace: 0.5, load: 5000, host: '::1' });
    expect(read.quirks.rateLimit).toBe(3);
  });

  it('are rejected when unknown or out of range, with the flag and the allowed values', () => {
    const wrong: [Record<string, unknown>, string][] = [
      [{ prot: 1 }, 'unknown option --prot of the exchange (did you mean port?)'],
      [{ port: '70000' }, '--port is "70000": it must be a whole number from 0 to 65535'],
      [{ port: 'http' }, '--port is "http"'],
      [{ port: '' }, '--port is ""'],
      [{ seed: '1.5' }, '--seed is "1.5"'],
      [{ seed: -1 }, '--seed is -1'],
      [{ events: 'many' }, '--events is "many"'],
      [{ bots: '-1' }, '--bots is "-1"'],
      [{ pace: 'fast' }, '--pace is "fast"'],
      [{ accounts: 'Infinity' }, '--accounts is "Infinity"'],
      [{ takerFeeBps: '10001' }, '--taker-fee-bps is "10001"'],
      [{ load: '-5' }, '--load is "-5"'],
      [{ data: '' }, '--data is ""'],
      [
        { quirks: 'nonsense' },
        '--quirks: unknown quirk nonsense; known ones: event-shape=outcomes|runners|both; trades-wrapper=',
      ],
      [{ printBots: 'yes' }, '--print-bots takes no value'],
    ];
    for (const [options, message] of wrong) {
      expect(() => readExchangeOptions(options)).toThrow(UsageError);
      expect(() => readExchangeOptions(options)).toThrow(message);
    }
  });

  it('have a description of one line each', () => {
    for (const option of Object.values(EXCHANGE_OPTIONS)) {
      expect(option.help).toMatch(/^\S.+\S$/);
      expect(option.help).not.toContain('\n');
    }
  });
});

describe('startExchange', () => {
  it('returns the ready line: addresses, the control token, accounts, and bots on request', async () => {
    const { ready } = await start({ accounts: 2, bots: 3, pace: 0, printBots: true });
    expect(ready).toEqual({
      ready: true,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      ws: ready.url.replace('http', 'ws'),
      control: { url: `${ready.url}/_control`, token: expect.stringMatching(/.{20}/) },
      accounts: [expect.any(Object), expect.any(Object)],
      bots: [expect.any(Object), expect.any(Object), expect.any(Object)],
    });
    for (const account of [...ready.accounts, ...(ready.bots ?? [])]) {
      expect(Object.keys(account)).toEqual(['userId', 'email', 'password', 'apiKey', 'apiSecret']);
      expect(account.apiKey).toMatch(/^pk_/);
    }
    const headers = { 'X-Control-Token': ready.control.token };
    expect((await fetch(`${ready.control.url}/truth`, { headers })).status).toBe(200);
    expect((await start({})).ready).not.toHaveProperty('bots');
  });

  it('has another control token at every start, and the same accounts for the same seed', async () => {
    const [one, two, other] = [await start({ seed: 5 }), await start({ seed: 5 }), await start({ seed: 6 })];
    expect(one.ready.control.token).not.toBe(two.ready.control.token);
    expect(one.ready.accounts).toEqual(two.ready.accounts);
    expect(one.ready.accounts).not.toEqual(other.ready.accounts);
  });

  it('serves /healthz and /metrics when given a port', async () => {
    const { ready, metricsUrl } = await start({}, { metrics: { host: '127.0.0.1', port: 0 } });
    await fetch(`${ready.url}/api/coins`);
    expect(await (await fetch(`${metricsUrl}/healthz`)).json()).toEqual({ ok: true, events: 2 });
    const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
    expect(metrics).toContain('chancery_exchange_http_requests_total{route="/api/coins",status="200"} 1');
    expect((await start({})).metricsUrl).toBeUndefined();
  });

  it('rejects a taken port and a foreign address with one clear line', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    await expect(start({ port })).rejects.toThrow(
      new UsageError(`port ${port} on 127.0.0.1 is taken; choose another with --port, or 0 for a free one`),
    );
    await expect(start({ host: '203.0.113.7' })).rejects.toThrow(UsageError);
    await expect(start({ host: '203.0.113.7' })).rejects.toThrow('choose another --host or --port');
  });

  it('refuses data that cannot be read', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'a-file');
    writeFileSync(file, 'not a folder');
    await expect(start({ data: file })).rejects.toThrow(UsageError);
  });

  it('resumes with the same data folder', async () => {
    const data = temporaryFolder();
    const first = await start({ data });
    const headers = { 'X-Control-Token': first.ready.control.token };
    const markets = [{ name: 'kept', chance: 0.4 }];
    const body = JSON.stringify({ title: 'Kept', category: 'politics', tags: [], markets });
    const opened = await (await fetch(`${first.ready.control.url}/events`, { method: 'POST', headers, body })).json();
    await first.close();
    const second = await start({ data });
    const found = await fetch(`${second.ready.url}/api/events/search?size=100`, { method: 'POST' });
    const { content } = (await found.json()) as { content: unknown[] };
    expect(content).toContainEqual(opened);
    expect(second.ready.accounts).toEqual(first.ready.accounts);
  });
});
