import { once } from 'node:events';
import { closeSync, openSync, readdirSync, statSync, watch } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isRunning } from '../../core/index.js';
import { freePort } from '../../warehouse/embedded/ports.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { chancery } from './command.js';
import { clickHousePid, gone, rows, startUp, status } from './start-up.js';

/** A line of progress that counts at least ten ticks. */
const TICKS_RECORDED = /recorded [\d,]+ rows .*price_ticks ([1-9]\d|\d,\d)/;
const TICKS = 'SELECT count() AS n, uniqExact(_log, _partition, _offset, _index) AS places FROM price_ticks';
const EVENTS = 'SELECT DISTINCT event FROM event_observations ORDER BY event';

/** Resolves when a folder has a file of such a name. */
async function appears(folder: string, name: RegExp): Promise<void> {
  const changes = watch(folder);
  while (!readdirSync(folder).some((file) => name.test(file))) await once(changes, 'change');
  changes.close();
}

const ticks = async (data: string) => (await rows<{ n: number; places: number }>(data, TICKS))[0];
const events = async (data: string) => (await rows<{ event: string }>(data, EVENTS)).map(({ event }) => event);

describe('chancery up', { timeout: 240_000 }, () => {
  it('records a market, shows what runs, shuts down cleanly on SIGINT, and resumes', async () => {
    const data = temporaryFolder();
    const first = startUp(data, { args: ['--pace', '4'] });
    await first.line(/^ready in /);
    const view = await first.line(/^ {2}ask {4}npx chancery sql --data /);
    expect(view).toContain(data);
    for (const part of ['exchange', 'clickhouse', 'collect', 'transform']) {
      expect(await first.line(new RegExp(`^ {2}${part} +ready +http://127.0.0.1:\\d+`))).toBeTruthy();
    }
    // A part that answers late on a busy machine counts as not healthy.
    const unhealthy = async () => (await status(data)).parts.filter(({ healthy }) => !healthy);
    await expect.poll(unhealthy).toEqual([]);
    const running = await status(data);
    expect(running.parts.map((p) => p.part)).toEqual(['up', 'exchange', 'clickhouse', 'collect', 'transform']);
    for (const part of running.parts) {
      expect(await (await fetch(`${part.health}/metrics`)).text()).toContain('# TYPE');
    }
    expect(first.lines.join('\n')).not.toMatch(/password=/);
    await first.line(TICKS_RECORDED);
    const before = await ticks(data);
    // They come by another topic than ticks.
    await expect.poll(async () => (await events(data)).length).toBeGreaterThanOrEqual(4);
    const seen = await events(data);

    const again = await chancery(['up', '--data', data]);
    expect(again.code).toBe(2);
    expect(again.err).toBe(
      `chancery: chancery up already runs on ${data} (process ${first.child.pid}); stop it first, or choose another folder with --data\n`,
    );

    const askedAt = performance.now();
    first.child.kill('SIGINT');
    expect(await first.exited).toBe(0);
    expect(performance.now() - askedAt).toBeLessThan(5000);
    expect(running.parts.filter((p) => isRunning(p.pid))).toEqual([]);
    expect(readdirSync(join(data, 'run'))).toEqual(['up.lock']);
    expect((await status(data)).parts).toEqual([]);
    const files = readdirSync(data, { recursive: true, encoding: 'utf8' });
    expect(files).toEqual(expect.arrayContaining(['exchange/token.key', 'bus/data.mdb', 'clickhouse/store']));
    expect(files.filter((name) => (statSync(join(data, name)).mode & 0o077) !== 0)).toEqual([]);

    const metricsPort = await freePort();
    const second = startUp(data, { args: ['--pace', '4', '--metrics-port', String(metricsPort)] });
    await second.line(/^ready in /);
    expect((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status).toBe(200);
    await second.line(TICKS_RECORDED);
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
    const after = await ticks(data);
    expect(after?.n).toBeGreaterThan(before?.n ?? 0);
    expect(after?.places).toBe(after?.n);
    expect(await events(data)).toEqual(expect.arrayContaining(seen));
  });

  it('starts a part again that was killed, and leaves no process behind when it is killed itself', async () => {
    const data = temporaryFolder();
    const up = startUp(data);
    await up.line(/^ready in /);
    const victims = (await status(data)).parts.filter((p) => p.part === 'collect' || p.part === 'clickhouse');
    expect(victims).toHaveLength(2);
    for (const { pid } of victims) process.kill(pid, 'SIGKILL');
    for (const { part } of victims) {
      await up.line(new RegExp(`^\\S+ ${part} ended \\(killed by SIGKILL\\); restarting in `));
      await up.line(new RegExp(`^\\S+ ${part} runs again$`));
    }
    const { parts } = await status(data);
    expect(parts.map((p) => p.part)).toEqual(['up', 'exchange', 'clickhouse', 'collect', 'transform']);
    for (const { part, pid, address } of victims) {
      const now = parts.find((p) => p.part === part);
      expect(now?.pid).not.toBe(pid);
      expect(now?.address).toBe(address);
    }
    const clickhouse = clickHousePid(data);
    process.kill(clickhouse, 'SIGKILL');
    await up.line(/^\S+ clickhouse: ClickHouse exited \(killed by SIGKILL\); restarting it$/);
    await gone([clickhouse]);

    up.child.kill('SIGKILL');
    await up.exited;
    await gone(parts.map((p) => p.pid));
    expect((await status(data)).parts).toEqual([]);
  });

  it('finds ports of its own beside another that starts at the same moment', async () => {
    const both = [startUp(temporaryFolder()), startUp(temporaryFolder())];
    await Promise.all(both.map((up) => up.line(/^ready in /)));
    const addresses = (up: (typeof both)[number]) =>
      Promise.all(['exchange', 'clickhouse'].map((part) => up.line(new RegExp(`^ {2}${part} +ready +http`))));
    const lines = (await Promise.all(both.map(addresses))).flat().map((line) => /http:\S+/.exec(line)?.[0]);
    expect(new Set(lines).size).toBe(4);
    for (const { child } of both) child.kill('SIGINT');
    expect(await Promise.all(both.map((up) => up.exited))).toEqual([0, 0]);
  });

  it('says in one line which port is taken, and leaves nothing running', async () => {
    const data = temporaryFolder();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const port = String((other.address() as AddressInfo).port);
    const up = startUp(data, { args: ['--exchange-port', port] });
    expect(await up.exited).toBe(2);
    expect(up.lines.at(-1)).toBe(
      `chancery: port ${port} is taken; choose another with --exchange-port, or leave it out`,
    );
    expect(readdirSync(join(data, 'run'))).toEqual(['up.lock']);
  });

  it('says in one line that the ClickHouse elsewhere does not respond, and leaves nothing running', async () => {
    const data = temporaryFolder();
    const { code, err } = await chancery(['up', '--data', data, '--clickhouse-url', 'http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(err).toMatch(/^chancery: ClickHouse at http:\/\/127\.0\.0\.1:1 does not respond; check [^\n]+\n$/);
    expect(readdirSync(join(data, 'run'))).toEqual(['up.lock']);
  });
});

describe('chancery up in trouble', () => {
  it('ends within 5 s although parts hang, and leaves no process behind', async () => {
    const data = temporaryFolder();
    const up = startUp(data);
    await up.line(/^ready in /);
    const { parts } = await status(data);
    const hanging = [clickHousePid(data), ...parts.filter((p) => p.part === 'collect').map((p) => p.pid)];
    for (const pid of hanging) process.kill(pid, 'SIGSTOP');
    const askedAt = performance.now();
    up.child.kill('SIGINT');
    expect(await up.exited).toBe(0);
    expect(performance.now() - askedAt).toBeLessThan(5000);
    expect([...hanging, ...parts.map((p) => p.pid)].filter(isRunning)).toEqual([]);
  });

  it('records on when its output cannot be written, and reports that once', async () => {
    const data = temporaryFolder();
    const full = openSync('/dev/full', 'w');
    const up = startUp(data, { stdout: full });
    closeSync(full);
    await up.line(/^chancery: cannot write to standard output \(ENOSPC[^)]*\); continuing without it$/);
    await appears(join(data, 'run'), /^transform-/);
    up.child.kill('SIGINT');
    expect(await up.exited).toBe(0);
    expect(up.lines).toHaveLength(1);
  });
});
