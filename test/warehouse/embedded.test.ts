import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { platform } from 'node:process';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger, isFreePort, isRunning, Secret, STOP_MS, UsageError } from '../../core/index.js';
import { consoleUrl, EmbeddedClickHouse, findEmbedded } from '../../warehouse/index.js';
import { startClickHouse, useClickHouse } from '../support/clickhouse.js';
import { helloOf, nativeHello } from '../support/native-hello.js';
import { runAs } from '../support/run-as.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/** Timeout of tests that start a server several times; each start takes up to 8 s on a busy machine. */
const STARTS_MS = 180_000;

const serverOn = (dataFolder: string, httpPort = 0, tcpPort?: number) =>
  new EmbeddedClickHouse({
    dataFolder,
    database: 'chancery',
    httpPort,
    tcpPort,
    memoryBytes: 1e9,
    logger: createLogger({ part: 'clickhouse', level: 'fatal' }),
  });
const never = new AbortController().signal;

/** A server that another process starts and, while it runs, restarts. */
async function startedByAnother(dataFolder: string): Promise<{ parent: ChildProcess; pid: number; url: string }> {
  const script = `
      import { EmbeddedClickHouse } from ${JSON.stringify(resolve('dist/warehouse/index.js'))};
      import { createLogger } from ${JSON.stringify(resolve('dist/core/index.js'))};
      const logger = createLogger({ part: 'clickhouse', level: 'fatal' });
      const server = new EmbeddedClickHouse({ dataFolder: ${JSON.stringify(dataFolder)}, database: 'chancery', httpPort: 0, memoryBytes: 1e9, logger });
      await server.start(new AbortController().signal);
      console.log(JSON.stringify(server.endpoint));
    `;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
  return { parent, ...(JSON.parse(line) as { pid: number; url: string }) };
}

/** The TCP ports that a process listens on. */
function listeningPorts(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((kind) =>
    readFileSync(`/proc/${pid}/net/${kind}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === LISTENING && sockets.has(`socket:[${inode}]`))
      .map(([, local = '']) => Number.parseInt(local.slice(local.indexOf(':') + 1), 16)),
  );
}
const LISTENING = '0A';

/** Sends the bytes and returns what the server sends until it closes the connection. */
async function speak(port: number, bytes: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(bytes);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

describe('users of the embedded ClickHouse', () => {
  const context = useClickHouse();
  const reader = (sql: string) => runAs(context.clickhouse.endpoint.reader, sql);

  it('grants the owner everything', async () => {
    await context.clickhouse.run('CREATE DATABASE IF NOT EXISTS chancery');
    await context.clickhouse.run('CREATE TABLE chancery.t (a UInt64) ENGINE = MergeTree ORDER BY a');
    await context.clickhouse.run('INSERT INTO chancery.t SELECT number FROM numbers(10)');
    expect(await context.clickhouse.rows('SELECT count() AS n FROM chancery.t')).toEqual([{ n: 10 }]);
  });

  it('grants the reader SELECT in Chancery’s database only', async () => {
    expect(await reader('SELECT sum(a) FROM t')).toBe('45\n');
    await context.clickhouse.run('CREATE TABLE default.other (a UInt64) ENGINE = MergeTree ORDER BY a');
    const denied = [
      'INSERT INTO chancery.t VALUES (1)',
      'CREATE TABLE chancery.u (a UInt64) ENGINE = Memory',
      'DROP TABLE chancery.t',
      'ALTER TABLE chancery.t DELETE WHERE 1',
      'SELECT * FROM default.other',
      'SELECT * FROM system.processes',
      'SYSTEM STOP MERGES chancery.t',
      "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a String')",
      "SELECT * FROM file('/etc/passwd', 'LineAsString')",
      "SELECT * FROM remote('127.0.0.1', system.one)",
      "SELECT * FROM executable('x', CSV, 'a String', (SELECT 1))",
    ];
    for (const sql of denied) await expect(reader(sql), sql).rejects.toThrow(/ACCESS_DENIED|READONLY/);
    expect(await context.clickhouse.rows('SELECT count() AS n FROM chancery.t')).toEqual([{ n: 10 }]);
  });

  it('does not let the reader raise its limits', async () => {
    for (const setting of [
      'readonly = 0',
      'max_execution_time = 0',
      'max_execution_time = 66',
      'max_memory_usage = 0',
      'max_result_rows = 0',
      'max_result_rows = 2000000',
      'max_concurrent_queries_for_user = 0',
    ]) {
      await expect(reader(`SELECT 1 SETTINGS ${setting}`), setting).rejects.toThrow(
        /SETTING_CONSTRAINT_VIOLATION|READONLY/,
      );
    }
    await expect(reader('SELECT number FROM numbers(2000000) FORMAT Null')).rejects.toThrow('TOO_MANY_ROWS_OR_BYTES');
    expect(await reader('SELECT 1 SETTINGS max_execution_time = 65, max_threads = 1')).toBe('1\n');
  });

  it('grants nothing to the login without a password', async () => {
    const nobody = { ...context.clickhouse.endpoint.owner, user: 'default', password: new Secret('') };
    for (const sql of [
      'SELECT 1',
      'SELECT * FROM chancery.t',
      "SELECT file('/etc/hosts')",
      'SYSTEM STOP LISTEN HTTP',
    ]) {
      await expect(runAs(nobody, sql), sql).rejects.toThrow('USER_SESSION_LIMIT_EXCEEDED');
    }
    for (const user of ['owner', 'reader']) {
      await expect(runAs({ ...nobody, user }, 'SELECT 1'), user).rejects.toThrow('AUTHENTICATION_FAILED');
    }
  });

  it('lets no user read files of the machine, if the kernel supports that', async ({ skip }) => {
    if (!context.clickhouse.server.health.confined) skip('this kernel cannot confine a process (Landlock)');
    const { dataFolder } = context.clickhouse;
    const files = ['/etc/passwd', join(dataFolder, 'clickhouse', 'credentials.json'), resolve('package-lock.json')];
    for (const file of files) {
      expect(readFileSync(file).length).toBeGreaterThan(0);
      await expect(reader(`SELECT file('${file}')`), file).rejects.toThrow(/Permission denied/);
      await expect(context.clickhouse.run(`SELECT file('${file}')`), file).rejects.toThrow(/Permission denied/);
    }
    expect(await reader("SELECT replaceAll(file('/proc/self/environ'), '\\0', ' ')")).toBe('TZ=UTC \n');
  });

  it('serves the console with the reader’s login filled in', async () => {
    const url = new URL(consoleUrl(context.clickhouse.endpoint));
    expect(url.searchParams.get('user')).toBe('reader');
    expect(await (await fetch(url)).text()).toContain('ClickHouse');
  });

  it('makes passwords and configuration readable by the owner of the folder only', () => {
    const folder = join(context.clickhouse.dataFolder, 'clickhouse');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of ['config.xml', 'users.xml', 'credentials.json', 'endpoint.json']) {
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
    }
  });

  it('is found by other processes through its data folder', async () => {
    const found = await findEmbedded(context.clickhouse.dataFolder);
    expect(found?.url).toBe(context.clickhouse.endpoint.url);
    expect(found?.pid).toBe(context.clickhouse.endpoint.pid);
    expect(JSON.stringify(found)).toContain('[redacted]');
    expect(await findEmbedded(temporaryFolder())).toBeUndefined();
  });
});

describe('the ports of the embedded ClickHouse', { timeout: STARTS_MS }, () => {
  it('are HTTP only, where neither a failed login nor another protocol crashes the server', async ({ skip }) => {
    if (platform !== 'linux') skip('which ports a process listens on is read from /proc');
    const server = serverOn(temporaryFolder());
    await server.start(never);
    onTestFinished(() => server.stop());
    const { pid, url, tcpPort, owner } = server.endpoint;
    const port = Number(new URL(url).port);
    expect(tcpPort).toBeUndefined();
    expect(listeningPorts(pid)).toEqual([port]);
    for (const user of ['owner', 'reader', 'default', 'nobody']) {
      await expect(runAs({ url, user, password: new Secret('wrong') }, 'SELECT 1'), user).rejects.toThrow();
    }
    expect(await speak(port, helloOf('owner', 'wrong'))).toMatch(/^HTTP\/1\.. 400 /);
    expect(await speak(port, Buffer.from('\r\n\r\n'))).toMatch(/^HTTP\/1\.. 400 /);
    expect(await runAs(owner, 'SELECT 1')).toBe('1\n');
    expect(server.health.restarts).toBe(0);
    expect(server.endpoint.pid).toBe(pid);
  });

  it('are HTTP and native when configured; a failed native login crashes the server, which is restarted', async () => {
    const server = serverOn(temporaryFolder(), 0, 0);
    await server.start(never);
    onTestFinished(() => server.stop());
    const { url, tcpPort = 0, owner, reader } = server.endpoint;
    const { pid: first } = server.endpoint;
    // It names a database that does not exist yet.
    expect(await nativeHello(tcpPort, 'reader', reader.password.reveal())).toBe(false);
    await until(async () => server.health.ready && server.endpoint.pid !== first);
    await runAs(owner, 'CREATE DATABASE chancery');
    expect(await nativeHello(tcpPort, 'reader', reader.password.reveal())).toBe(true);
    const { pid: second } = server.endpoint;
    expect(await nativeHello(tcpPort, 'reader', 'wrong')).toBe(false);
    await until(async () => server.health.ready && server.endpoint.pid !== second);
    expect(server.health.restarts).toBe(2);
    expect(server.endpoint).toMatchObject({ url, tcpPort });
    expect(await nativeHello(tcpPort, 'reader', reader.password.reveal())).toBe(true);
  });
});

describe('lifecycle of the embedded ClickHouse', { timeout: STARTS_MS }, () => {
  it('keeps acknowledged rows when it is killed, and is restarted at the same URL', async () => {
    const clickhouse = await startClickHouse();
    try {
      await clickhouse.run('CREATE DATABASE chancery');
      await clickhouse.run('CREATE TABLE chancery.t (a UInt64) ENGINE = MergeTree ORDER BY a');
      let acknowledged = 0;
      for (let round = 0; round < 3; round++) {
        const { pid, url } = clickhouse.endpoint;
        const inserting = (async () => {
          for (;;) {
            await clickhouse.run(`INSERT INTO chancery.t VALUES (${acknowledged})`);
            acknowledged += 1;
            if (acknowledged % 5 === 0) process.kill(pid, 'SIGKILL');
          }
        })();
        await expect(inserting).rejects.toThrow();
        await until(async () => clickhouse.server.health.ready && clickhouse.endpoint.pid !== pid);
        expect(clickhouse.endpoint.url).toBe(url);
        const [kept] = await clickhouse.rows<{ n: number }>(
          `SELECT countIf(a < ${acknowledged}) AS n FROM (SELECT DISTINCT a FROM chancery.t)`,
        );
        expect(kept?.n).toBe(acknowledged);
      }
      expect(clickhouse.server.health.restarts).toBe(3);
      expect((await findEmbedded(clickhouse.dataFolder))?.pid).toBe(clickhouse.endpoint.pid);
    } finally {
      await clickhouse.stop();
    }
  });

  it('shuts down cleanly within its time limit, removes its endpoint file, and restarts with its data', async () => {
    const dataFolder = temporaryFolder();
    const first = serverOn(dataFolder);
    await first.start(never);
    const { pid, owner } = first.endpoint;
    await runAs(owner, 'CREATE DATABASE chancery');
    await runAs(owner, 'CREATE TABLE chancery.t (a UInt64) ENGINE = MergeTree ORDER BY a AS SELECT 1 AS a');
    const began = performance.now();
    await first.stop();
    await first.stop();
    expect(performance.now() - began).toBeLessThan(STOP_MS.total);
    expect(isRunning(pid)).toBe(false);
    expect(await findEmbedded(dataFolder)).toBeUndefined();

    const second = serverOn(dataFolder);
    await second.start(never);
    expect(second.endpoint.owner.password.reveal()).toBe(owner.password.reveal());
    expect(await runAs(second.endpoint.reader, 'SELECT a FROM t')).toBe('1\n');
    await second.stop();
  });

  it('exits when its parent is killed, and the folder can be used again immediately', async () => {
    const dataFolder = temporaryFolder();
    const { parent, pid } = await startedByAnother(dataFolder);
    try {
      expect(isRunning(pid)).toBe(true);
      await expect(serverOn(dataFolder).start(never)).rejects.toThrow(
        `in use by another Chancery (process ${parent.pid})`,
      );

      parent.kill('SIGKILL');
      await once(parent, 'exit');
      const next = serverOn(dataFolder);
      await next.start(never);
      expect(isRunning(pid)).toBe(false);
      await next.stop();
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('restarts at its URL even if a replacement of a killed server still holds the port', async () => {
    const dataFolder = temporaryFolder();
    const { parent, pid, url } = await startedByAnother(dataFolder);
    parent.kill('SIGSTOP');
    process.kill(pid, 'SIGKILL');
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    const port = Number(new URL(url).port);
    await expect.poll(() => isFreePort(port)).toBe(true);
    // Stands for the unregistered replacement: it exits soon, since its parent is gone.
    const starting = createServer().listen(port, '127.0.0.1');
    await once(starting, 'listening');
    const next = serverOn(dataFolder);
    const started = next.start(never);
    setTimeout(() => starting.close(), 500);
    await started;
    expect(next.endpoint.url).toBe(url);
    await next.stop();
  });

  it('reports in one line that the port is in use', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as { port: number };
    const server = serverOn(temporaryFolder(), port);
    await expect(server.start(never)).rejects.toThrow(
      new UsageError(`port ${port} is in use; choose another with --clickhouse-port, or 0 for a free one`),
    );
    other.close();
  });

  it('reports in one line that the folder cannot be created', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    await expect(serverOn(file).start(never)).rejects.toThrow(
      /cannot prepare the ClickHouse folder .*: .*; make it writable/,
    );
  });

  it('stops starting when it is stopped', async () => {
    const server = serverOn(temporaryFolder());
    const controller = new AbortController();
    const starting = server.start(controller.signal);
    controller.abort(new Error('enough'));
    await expect(starting).rejects.toThrow('enough');
    await server.stop();
    expect(server.health.ready).toBe(false);
  });
});
