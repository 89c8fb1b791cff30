import { once } from 'node:events';
import { closeSync, openSync, readdirSync, statSync, watch } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { isRunning } from '../../core/index.js';
import { findEmbedded } from '../../warehouse/index.js';
import { atEnd, concurrentIt } from '../support/at-end.js';
import { freePort } from '../support/free-ports.js';
import { runAs } from '../support/run-as.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { chancery } from './command.js';
import { clickHousePid, gone, rows, startingClickHousePid, startUp, status, type Up } from './start-up.js';

/** A progress line with rows. It names the largest tables only. */
const ROWS_RECORDED = /recorded [1-9][\d,]* rows \(\+[\d,]+\/s\): \w+ [1-9]/;
const MIN_TICKS = 10;
const TICKS = 'SELECT count() AS n, uniqExact(_log, _partition, _offset, _index) AS positions FROM price_ticks';
const EVENTS = 'SELECT DISTINCT event FROM event_observations ORDER BY event';

/** Resolves with the name of a file in the folder that matches. */
async function appears(folder: string, name: RegExp): Promise<string> {
  const changes = watch(folder);
  try {
    for (;;) {
      const found = readdirSync(folder).find((file) => name.test(file));
      if (found !== undefined) return found;
      await once(changes, 'change');
    }
  } finally {
    changes.close();
  }
}

const ticks = async (data: string) => (await rows<{ n: number; positions: number }>(data, TICKS))[0];
/** Waits until a few more ticks than before are in ClickHouse. */
const ticksRecorded = (data: string, before = 0) =>
  until(async () => {
    const endpoint = await findEmbedded(data);
    if (!endpoint) return 'no ClickHouse runs';
    const login = { ...endpoint.owner, url: `${endpoint.url}/?database=chancery` };
    const count = await runAs(login, 'SELECT count() FROM price_ticks').catch(String);
    return Number(count) >= before + MIN_TICKS || `ticks: ${count}`;
  });
const events = async (data: string) => (await rows<{ event: string }>(data, EVENTS)).map(({ event }) => event);

describe('two instances of chancery up that start at the same moment', () => {
  const instances = new Map<string, { readonly data: string; readonly up: Up }>();
  const instanceOf = (name: string) => {
    const found = instances.get(name);
    if (!found) throw new Error(`the instance ${name} does not run`);
    return found;
  };

  beforeAll(async () => {
    for (const [name, args] of [
      ['recording', ['--pace', '4']],
      ['killed', []],
    ] as const) {
      const data = temporaryFolder();
      instances.set(name, { data, up: startUp(data, { args, endedBy: 'caller' }) });
    }
    // The addresses are printed after `ready`; the first test that kills a service must not be before them.
    await Promise.all([...instances.values()].map(({ up }) => up.line(/^ {2}view +ready +http/)));
  });

  afterAll(() => Promise.all([...instances.values()].map(({ up }) => up.stop())));

  concurrentIt('use different ports', async () => {
    const addresses = ({ up }: { readonly up: Up }) =>
      Promise.all(['exchange', 'clickhouse'].map((service) => up.line(new RegExp(`^ {2}${service} +ready +http`))));
    const lines = (await Promise.all([...instances.values()].map(addresses))).flat();
    expect(new Set(lines.map((line) => /http:\S+/.exec(line)?.[0])).size).toBe(4);
  });

  concurrentIt(
    'records a market, shows its services, shuts down cleanly on SIGINT, and resumes, also without output',
    async () => {
      const { data, up: first } = instanceOf('recording');
      const view = await first.line(/^ {2}ask {4}npx chancery sql --data /);
      expect(view).toContain(data);
      for (const service of ['exchange', 'clickhouse', 'collect', 'transform', 'view']) {
        expect(await first.line(new RegExp(`^ {2}${service} +ready +http://127.0.0.1:\\d+`))).toBeTruthy();
      }
      const running = await status(data);
      expect(running.services.map((p) => p.service)).toEqual([
        'up',
        'exchange',
        'clickhouse',
        'collect',
        'transform',
        'view',
      ]);
      for (const service of running.services) {
        // Without a timeout: on a busy machine a service may respond late, and count as unhealthy in the status.
        await until(async () => (await fetch(`${service.health}/healthz`)).ok || `${service.service} is not healthy`);
        expect(await (await fetch(`${service.health}/metrics`)).text()).toContain('# TYPE');
      }
      await until(async () => (await status(data)).services.some(({ healthy }) => healthy));
      expect(first.lines.join('\n')).not.toMatch(/password=/);
      await first.line(ROWS_RECORDED);
      await ticksRecorded(data);
      const before = await ticks(data);
      // They are on another topic than ticks.
      await until(async () => (await events(data)).length >= 4);
      const seen = await events(data);

      const again = await chancery(['up', '--data', data]);
      expect(again.code).toBe(2);
      expect(again.err).toBe(
        `chancery: chancery up already runs on ${data} (process ${first.child.pid}); stop it first, or choose another folder with --data\n`,
      );

      first.child.kill('SIGINT');
      expect(await first.exited).toBe(0);
      expect(running.services.filter((p) => isRunning(p.pid))).toEqual([]);
      expect(readdirSync(join(data, 'run'))).toEqual(['up.lock']);
      expect((await status(data)).services).toEqual([]);
      const files = readdirSync(data, { recursive: true, encoding: 'utf8' });
      expect(files).toEqual(expect.arrayContaining(['exchange/token.key', 'bus/data.mdb', 'clickhouse/store']));
      expect(files.filter((name) => (statSync(join(data, name)).mode & 0o077) !== 0)).toEqual([]);

      const metricsPort = await freePort();
      const full = openSync('/dev/full', 'w');
      const second = startUp(data, { args: ['--pace', '4', '--metrics-port', String(metricsPort)], stdout: full });
      closeSync(full);
      await second.line(/^chancery: cannot write to standard output \(ENOSPC[^)]*\); continuing without it$/);
      await until(async () => (await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).ok || 'up is not ready');
      await ticksRecorded(data, before?.n);
      second.child.kill('SIGTERM');
      expect(await second.exited).toBe(0);
      expect(second.lines).toHaveLength(1);
      const after = await ticks(data);
      expect(after?.n).toBeGreaterThan(before?.n ?? 0);
      expect(after?.positions).toBe(after?.n);
      expect(await events(data)).toEqual(expect.arrayContaining(seen));
    },
  );

  concurrentIt('restarts a killed service, and leaves no process behind when it is killed itself', async () => {
    const { data, up } = instanceOf('killed');
    const victims = (await status(data)).services.filter((p) => p.service === 'collect' || p.service === 'clickhouse');
    expect(victims).toHaveLength(2);
    for (const { pid } of victims) process.kill(pid, 'SIGKILL');
    for (const { service } of victims) {
      await up.line(new RegExp(`^\\S+ ${service} ended \\(killed by SIGKILL\\); restarting in `));
      await up.line(new RegExp(`^\\S+ ${service} is running again$`));
    }
    const { services } = await status(data);
    expect(services.map((p) => p.service)).toEqual(['up', 'exchange', 'clickhouse', 'collect', 'transform', 'view']);
    for (const { service, pid, address } of victims) {
      const now = services.find((p) => p.service === service);
      expect(now?.pid).not.toBe(pid);
      expect(now?.address).toBe(address);
    }
    const metrics = async (name: string) =>
      (await fetch(`${services.find(({ service }) => service === name)?.health}/metrics`)).text();
    const ofUp = await metrics('up');
    expect(ofUp).toContain('# TYPE chancery_service_restarts_total counter');
    for (const [service, restarts] of Object.entries({ collect: 1, clickhouse: 1, transform: 0 })) {
      expect(ofUp).toContain(`chancery_service_restarts_total{service="${service}"} ${restarts}\n`);
    }
    expect(await metrics('clickhouse')).toContain('\nchancery_clickhouse_restarts_total 0\n');
    const clickhouse = clickHousePid(data);
    process.kill(clickhouse, 'SIGKILL');
    await up.line(/^\S+ clickhouse: ClickHouse exited \(killed by SIGKILL\); restarting it$/);
    await gone([clickhouse]);
    await until(async () => (await metrics('clickhouse')).includes('\nchancery_clickhouse_restarts_total 1\n'));

    up.child.kill('SIGKILL');
    await up.exited;
    await gone(services.map((p) => p.pid));
    expect((await status(data)).services).toEqual([]);
  });
});

describe.concurrent('chancery up', () => {
  concurrentIt(
    'leaves no process behind when it is killed while a service starts; the next one starts, and restarts services that are killed while they start',
    async () => {
      const data = temporaryFolder();
      const run = join(data, 'run');
      const left: number[] = [];
      for (const service of ['clickhouse', 'transform']) {
        const up = startUp(data);
        await up.line(/^Chancery .* starts on /);
        await appears(run, new RegExp(`^${service}-`));
        expect(left.filter(isRunning)).toEqual([]);
        up.child.kill('SIGKILL');
        const services = readdirSync(run).flatMap((name) => /-(\d+)\.json$/.exec(name)?.[1] ?? []);
        expect(services).not.toEqual([]);
        left.push(...services.map(Number));
        await up.exited;
      }
      const former = startingClickHousePid(data);
      const last = startUp(data);
      const starting = () => startingClickHousePid(data);
      await until(() => starting() !== undefined && starting() !== former);
      expect(left.filter(isRunning)).toEqual([]);
      process.kill(starting() ?? 0, 'SIGKILL');
      await last.line(/^\S+ clickhouse ended \(the embedded ClickHouse was killed by SIGKILL[^)]*\); restarting in /);
      const victims = ['exchange', 'clickhouse', 'collect', 'transform', 'view'];
      for (const service of victims) {
        const entry = new RegExp(`^${service}-(\\d+)\\.json$`);
        const name = await appears(run, entry);
        process.kill(Number(entry.exec(name)?.[1]), 'SIGKILL');
      }
      await last.line(/^ready in /);
      for (const service of victims) {
        await last.line(new RegExp(`^\\S+ ${service} ended \\(killed by SIGKILL\\); restarting in `));
        await last.line(new RegExp(`^\\S+ ${service} is running again$`));
      }
      await ticksRecorded(data);
      last.child.kill('SIGINT');
      expect(await last.exited).toBe(0);
      expect(readdirSync(run)).toEqual(['up.lock']);
    },
  );

  concurrentIt('reports in one line which port is taken, and leaves nothing running', async () => {
    const data = temporaryFolder();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    atEnd(() => other.close());
    const port = String((other.address() as AddressInfo).port);
    const up = startUp(data, { args: ['--exchange-port', port] });
    expect(await up.exited).toBe(2);
    expect(up.lines.at(-1)).toBe(`chancery: port ${port} is taken; choose another with --exchange-port, or omit it`);
    expect(readdirSync(join(data, 'run'))).toEqual(['up.lock']);
  });

  concurrentIt(
    'reports in one line that the external ClickHouse does not respond, and leaves nothing running',
    async () => {
      const data = temporaryFolder();
      const { code, err } = await chancery(['up', '--data', data, '--clickhouse-url', 'http://127.0.0.1:1']);
      expect(code).toBe(1);
      expect(err).toMatch(/^chancery: ClickHouse at http:\/\/127\.0\.0\.1:1 does not respond; check [^\n]+\n$/);
      expect(readdirSync(join(data, 'run'))).toEqual(['up.lock']);
    },
  );
});
