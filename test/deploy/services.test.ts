import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWithKafka } from '../kafka/index.js';
import { freePorts } from '../support/free-ports.js';
import { runAs } from '../support/run-as.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { StandInServer } from './clickhouse-server.js';
import { composeText, interpolate, parseCompose, parseEnv } from './compose-file.js';
import { Container, layOutImage } from './container.js';
import { readDockerfile } from './dockerfile.js';

const { services } = parseCompose(composeText());
const image = readDockerfile();

/** In the order in which docker compose starts them; workers are copies of one service. */
const LONG_RUNNING = ['exchange', 'collect-0', 'collect-1', 'transform', 'transform'];

describeWithKafka('the services of docker-compose.yml, run without Docker', { own: true }, (kafka) => {
  const folder = temporaryFolder();
  const app = join(folder, 'app');
  const running: Container[] = [];
  let env: Record<string, string> = {};
  let server: StandInServer;
  /** Values in the file, and their replacements here. */
  let positions: readonly (readonly [inTheFile: string, here: string])[] = [];

  beforeAll(async () => {
    mkdirSync(app);
    layOutImage(image, app);
    expect(await new Container('init', app, ['init', '--file', join(folder, '.env')], {}).exited).toBe(0);
    env = parseEnv(readFileSync(join(folder, '.env'), 'utf8'));
    server = await StandInServer.start(join(folder, 'server'), environmentOf('clickhouse'));
    const [exchange = 0] = await freePorts(1);
    positions = [
      ['kafka:9092', kafka.brokers.join(',')],
      ['http://clickhouse:8123', server.url],
      ['127.0.0.1:8123', `127.0.0.1:${server.httpPort}`],
      ['127.0.0.1:9100', `127.0.0.1:${exchange}`],
      ['9100', String(exchange)],
      ['0.0.0.0', '127.0.0.1'],
    ];
    const migrate = start('migrate', 0);
    expect(await migrate.exited, migrate.output).toBe(0);
    const ports = await freePorts(LONG_RUNNING.length);
    running.push(...LONG_RUNNING.map((name, i) => start(name, ports[i] ?? 0)));
    for (const part of running) {
      const unhealthy = () => `${part.name} is not healthy:\n${part.output}`;
      // Each run of the healthcheck starts a process, which would slow down the parts that start.
      await until(async () => (await part.responds()) || unhealthy());
      await until(async () => part.healthy(image.healthcheck) || unhealthy());
    }
  });

  afterAll(async () => {
    await Promise.all(running.map((part) => part.kill()));
    await server?.stop();
  });

  function environmentOf(name: string): Record<string, string> {
    const entries = Object.entries(services[name]?.environment ?? {});
    return Object.fromEntries(entries.map(([key, value]) => [key, here(interpolate(value, env))]));
  }

  function here(text: string): string {
    const entry = positions.find(([inTheFile]) => text === inTheFile || text.endsWith(`//${inTheFile}`));
    return entry ? text.replace(...entry) : text;
  }

  function start(name: string, metricsPort: number): Container {
    const data = temporaryFolder();
    const own = { CHANCERY_DATA: data, ...(metricsPort ? { CHANCERY_METRICS_PORT: String(metricsPort) } : {}) };
    const command = (services[name]?.command ?? []).map(here);
    return new Container(name, app, command, { ...image.env, ...environmentOf(name), ...own });
  }

  async function ask(sql: string): Promise<Record<string, unknown>[]> {
    const text = await runAs(server.login('reader'), `${sql} FORMAT JSONEachRow`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  it('bring rows into ClickHouse, which Grafana’s user reads with the password of .env', async () => {
    await until(async () => {
      const [row] = await ask('SELECT count() AS ticks, uniqExact(_partition) AS partitions FROM price_ticks');
      return (Number(row?.['ticks']) > 200 && Number(row?.['partitions']) > 1) || JSON.stringify(row);
    });
    expect(await ask('SELECT count() AS letters FROM dead_letters')).toEqual([{ letters: 0 }]);
  });

  it('have every open event observed by one of the two collectors', async () => {
    await until(async () => {
      const [row] = await ask(
        "SELECT countIf(c.open) AS open, countIf(c.open AND c.live) AS observed FROM coverage_by_event AS c WHERE stream = 'order-book'",
      );
      return (Number(row?.['open']) > 30 && row?.['observed'] === row?.['open']) || JSON.stringify(row);
    });
    const shares = await ask(`
      SELECT shard, uniqExact(event) AS events FROM coverage
      INNER JOIN (SELECT session_id, shard FROM sessions WHERE state = 'live') AS collectors USING (session_id)
      GROUP BY shard ORDER BY shard`);
    expect(shares.map(({ shard }) => shard)).toEqual(['0/2', '1/2']);
    for (const { events } of shares) expect(Number(events)).toBeGreaterThan(5);
    const [twice] = await ask(
      'SELECT countIf(n > 1) AS events FROM (SELECT uniqExact(session_id) AS n FROM coverage GROUP BY event)',
    );
    expect(twice).toEqual({ events: 0 });
  });

  it('share the work between two workers', async () => {
    const workers = running.filter(({ name }) => name === 'transform');
    expect(workers).toHaveLength(2);
    for (const worker of workers) {
      const records = () => worker.metric('chancery_transform_records_total');
      await until(async () => (await records()) > 0 || `no record came to a worker:\n${worker.output}`);
    }
  });

  it('can be migrated a second time', async () => {
    const again = start('migrate', 0);
    expect(await again.exited, again.output).toBe(0);
    expect(again.output).toContain('nothing to do');
  });

  it('write no password into their logs', () => {
    const secrets = Object.entries(env).filter(([name]) => name.endsWith('_PASSWORD'));
    expect(secrets).toHaveLength(3);
    for (const { name, output } of running)
      for (const [, secret] of secrets) expect(output, name).not.toContain(secret);
  });

  it('reject logins without a password, and let the reader only read, within its limits', async () => {
    const reader = server.login('reader');
    for (const sql of [
      'CREATE TABLE chancery.t (a Int8) ENGINE = Memory',
      'SELECT * FROM system.processes',
      'SELECT 1 SETTINGS max_execution_time = 66',
    ]) {
      await expect(runAs(reader, sql), sql).rejects.toThrow(/ACCESS_DENIED|READONLY|SETTING_CONSTRAINT_VIOLATION/);
    }
    const stranger = { ...reader, password: server.login('owner').password };
    await expect(runAs(stranger, 'SELECT 1')).rejects.toThrow('AUTHENTICATION_FAILED');
  });

  it('have a healthcheck of ClickHouse that passes', ({ skip }) => {
    const test = services['clickhouse']?.healthcheck?.test ?? [];
    const [, command = '', ...args] = test;
    skip(!onPath(command), `there is no ${command} here`);
    const run = (words: readonly string[]) => spawnSync(command, words, { encoding: 'utf8' }).status;
    const there = args.map((word) => positions.reduce((text, [file, local]) => text.replace(file, local), word));
    expect(run(there)).toBe(0);
    expect(run(there.map((word) => word.replace('/ping', '/nothing')))).not.toBe(0);
  });

  it('shut down cleanly on a signal, and are unhealthy then', async () => {
    for (const part of running) {
      expect(await part.stop(), `${part.name}: ${part.output}`).toBe(0);
      expect(() => part.healthy(image.healthcheck)).toThrow('ended with 0');
    }
  });
});

describe('the healthcheck of the image', () => {
  it('fails without a server', () => {
    const [command = '', ...args] = image.healthcheck;
    const env = { PATH: process.env['PATH'] ?? '', CHANCERY_METRICS_PORT: '1' };
    expect(spawnSync(command, args, { env }).status).toBe(1);
  });
});

const onPath = (command: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)));
