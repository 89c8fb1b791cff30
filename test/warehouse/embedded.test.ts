import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { platform } from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clickHouseChecks } from '../../cli/doctor/clickhouse.js';
import { renderStatus } from '../../cli/status/render.js';
import { instanceStatus } from '../../cli/status/report.js';
import {
  createLogger,
  isFreePort,
  isRunning,
  resolveConfig,
  Secret,
  UnavailableError,
  UsageError,
} from '../../core/index.js';
import { consoleUrl, EmbeddedClickHouse, findEmbedded } from '../../warehouse/index.js';
import { startClickHouse, useClickHouse } from '../support/clickhouse.js';
import { freePort } from '../support/free-ports.js';
import { helloOf, nativeHello } from '../support/native-hello.js';
import { runAs } from '../support/run-as.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/** The ClickHouse processes of a data folder that this process started. */
function childrenOn(dataFolder: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        const parent = /^PPid:\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        return command.includes(dataFolder) && Number(parent) === process.pid;
      } catch {
        return false;
      }
    });
}

const serverOn = (dataFolder: string, httpPort = 0, tcpPort?: number) =>
  new EmbeddedClickHouse({
    dataFolder,
    database: 'chancery',
    httpPort,
    tcpPort,
    memoryBytes: 1e9,
    logger: createLogger({ service: 'clickhouse', level: 'fatal' }),
  });
const never = new AbortController().signal;

/** A server that another process starts and, while it runs, restarts. */
async function startedByAnother(dataFolder: string): Promise<{ parent: ChildProcess; pid: number; url: string }> {
  const script = `
      import { EmbeddedClickHouse } from ${JSON.stringify(resolve('dist/warehouse/index.js'))};
      import { createLogger } from ${JSON.stringify(resolve('dist/core/index.js'))};
      const logger = createLogger({ service: 'clickhouse', level: 'fatal' });
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

  it('accepts queries as long as ClickHouse does by default', async () => {
    expect(await reader(`SELECT sum(a) FROM t WHERE '${'x'.repeat(200_000)}' != ''`)).toBe('45\n');
    await expect(reader(`SELECT '${'x'.repeat(300_000)}'`)).rejects.toThrow(/Max query size exceeded/);
  });

  it('does not let the reader raise its limits', async () => {
    for (const setting of [
      'readonly = 0',
      'max_execution_time = 0',
      'max_execution_time = 66',
      'max_memory_usage = 0',
      'max_memory_usage_for_user = 0',
      'max_temporary_data_on_disk_size_for_user = 0',
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
    const files = [
      '/etc/passwd',
      join(dataFolder, 'clickhouse', 'credentials.json'),
      resolve('package-lock.json'),
      `/proc/${process.pid}/cmdline`,
    ];
    for (const file of files) {
      expect(readFileSync(file).length).toBeGreaterThan(0);
      await expect(reader(`SELECT file('${file}')`), file).rejects.toThrow(/Permission denied/);
      await expect(context.clickhouse.run(`SELECT file('${file}')`), file).rejects.toThrow(/Permission denied/);
    }
    expect(await reader("SELECT replaceAll(file('/proc/self/environ'), '\\0', ' ')")).toBe('TZ=UTC \n');
    expect(await reader("SELECT file('/proc/meminfo')")).toContain('MemTotal');
  });

  it('shows in `status` and `doctor` whether it is confined', async ({ skip }) => {
    if (!context.clickhouse.server.health.confined) skip('this kernel cannot confine a process (Landlock)');
    const settings = { ...resolveConfig({}).settings, data: context.clickhouse.dataFolder };
    const confinement = clickHouseChecks(settings).find(({ name }) => name === 'ClickHouse confinement');
    expect(await confinement?.run()).toMatchObject({ state: 'ok', found: expect.stringContaining('confined') });
    const report = await instanceStatus(settings);
    expect(report.clickhouse).toEqual({ url: context.clickhouse.endpoint.url, unconfined: null });
    expect(renderStatus(report)).toContain('ClickHouse   confined to its own files');
  });

  it('serves the console with the reader’s login filled in', async () => {
    const url = new URL(consoleUrl(context.clickhouse.endpoint));
    expect(url.searchParams.get('user')).toBe('reader');
    expect(await (await fetch(url)).text()).toContain('ClickHouse');
  });

  it('stores passwords and configuration readable by the owner of the folder only', () => {
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

  it('is not taken for one that does not run while it is too busy to respond', async () => {
    const { dataFolder, endpoint } = context.clickhouse;
    process.kill(endpoint.pid, 'SIGSTOP');
    try {
      await expect(findEmbedded(dataFolder, 200)).rejects.toThrow(
        `ClickHouse on ${dataFolder} (process ${endpoint.pid}) did not respond within 0.2 s; try again later, or restart it`,
      );
    } finally {
      process.kill(endpoint.pid, 'SIGCONT');
    }
    expect((await findEmbedded(dataFolder))?.pid).toBe(endpoint.pid);
  });
});

// These suites wait most of the time: they run together.
describe.concurrent('connections of the embedded ClickHouse', () => {
  const context = useClickHouse();
  const reader = (sql: string) => runAs(context.clickhouse.endpoint.reader, sql);
  beforeAll(() => context.clickhouse.run('CREATE DATABASE chancery'));

  it('completes a query that takes longer than a silent connection may stay open, for a client that waits', async () => {
    // This setting cancels a query when the input of its connection ends.
    const settings = 'SETTINGS max_block_size = 1, cancel_http_readonly_queries_on_client_close = 1';
    expect(await reader(`SELECT sum(sleepEachRow(0.5)) FROM numbers(16) ${settings}`)).toBe('0\n');
  });

  it('leaves the connection of an INSERT SELECT that takes longer to the next request of its client', async () => {
    const { run, endpoint } = context.clickhouse;
    await run('CREATE TABLE chancery.slept (n UInt64) ENGINE = MergeTree ORDER BY n');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { 'X-ClickHouse-User': 'owner', 'X-ClickHouse-Key': endpoint.owner.password.reveal() };
    const send = async (sql: string) => {
      const sent = request(endpoint.url, { method: 'POST', agent, headers });
      sent.end(sql);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return { reused: sent.reusedSocket, body: (await response.toArray()).join('') };
    };
    await send('INSERT INTO chancery.slept SELECT sleepEachRow(0.5) FROM numbers(14) SETTINGS max_block_size = 1');
    // Its connections are checked meanwhile.
    await delay(1500);
    expect(await send('SELECT count() FROM chancery.slept')).toEqual({ reused: true, body: '14\n' });
    agent.destroy();
  });

  it('ends an insert whose sender has been silent for the time limit of a connection', async () => {
    const { run, rows, endpoint } = context.clickhouse;
    await run('CREATE TABLE chancery.silent (n UInt64) ENGINE = MergeTree ORDER BY n');
    const path = `/?${new URLSearchParams({ query: 'INSERT INTO chancery.silent FORMAT RowBinary' })}`;
    const headers = { 'X-ClickHouse-User': 'owner', 'X-ClickHouse-Key': endpoint.owner.password.reveal() };
    const sender = request(endpoint.url + path, {
      method: 'POST',
      headers: { ...headers, 'content-length': 2_000_000 },
    });
    sender.on('error', () => undefined).write(Buffer.alloc(1_000_000));
    const inserts = () => rows("SELECT query_id FROM system.processes WHERE query LIKE 'INSERT INTO chancery.silent%'");
    await until(async () => (await inserts()).length === 1 || 'the insert does not run yet');
    await until(async () => (await inserts()).length === 0 || 'the insert still runs');
    expect(await rows('SELECT count() AS n FROM chancery.silent')).toEqual([{ n: 0 }]);
    sender.destroy();
  });
});

describe.concurrent('the ports of the embedded ClickHouse', () => {
  it('are HTTP only, where neither a failed login nor another protocol crashes the server', async ({
    skip,
    onTestFinished,
  }) => {
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

  it('are HTTP and native when configured; a failed native login crashes the server, which is restarted', async ({
    onTestFinished,
  }) => {
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

describe.concurrent('the confinement of the embedded ClickHouse', () => {
  it('remains when a process is killed while it starts', async ({ skip, onTestFinished }) => {
    const dataFolder = temporaryFolder();
    const server = serverOn(dataFolder);
    await server.start(never);
    onTestFinished(() => server.stop());
    if (!server.health.confined) skip('this kernel cannot confine a process (Landlock)');
    const { pid: first } = server.endpoint;
    process.kill(first, 'SIGKILL');
    const replacement = () => childrenOn(dataFolder).find((pid) => pid !== first);
    await until(async () => replacement() !== undefined);
    const second = replacement() ?? 0;
    process.kill(second, 'SIGKILL');
    await until(async () => server.health.ready);
    expect([first, second]).not.toContain(server.endpoint.pid);
    expect(server.health).toMatchObject({ confined: true, restarts: 1 });
    const secrets = join(dataFolder, 'clickhouse', 'credentials.json');
    await expect(runAs(server.endpoint.owner, `SELECT file('${secrets}')`)).rejects.toThrow(/Permission denied/);
  });

  it('is missing on request only, with a warning at every start', async ({ onTestFinished }) => {
    const lines: { level: number; reason?: string }[] = [];
    const dataFolder = temporaryFolder();
    const server = new EmbeddedClickHouse({
      dataFolder,
      database: 'chancery',
      httpPort: 0,
      memoryBytes: 1e9,
      unconfined: true,
      logger: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    });
    await server.start(never);
    onTestFinished(() => server.stop());
    const { pid } = server.endpoint;
    process.kill(pid, 'SIGKILL');
    await until(async () => server.health.ready && server.endpoint.pid !== pid);
    expect(server.health).toMatchObject({ confined: false, unconfined: '--clickhouse-unconfined' });
    expect(lines.filter(({ reason }) => reason === '--clickhouse-unconfined')).toHaveLength(2);
    const secrets = join(dataFolder, 'clickhouse', 'credentials.json');
    expect(await runAs(server.endpoint.owner, `SELECT length(file('${secrets}')) > 0`)).toBe('1\n');

    const settings = { ...resolveConfig({}).settings, data: dataFolder };
    const confinement = clickHouseChecks(settings).find(({ name }) => name === 'ClickHouse confinement');
    expect(await confinement?.run()).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('--clickhouse-unconfined'),
    });
    const shown = renderStatus(await instanceStatus(settings)).find((line) => line.startsWith('ClickHouse   '));
    expect(shown).toContain('not confined (--clickhouse-unconfined)');
  });
});

describe('lifecycle of the embedded ClickHouse', () => {
  it('retains acknowledged rows when it is killed, and is restarted at the same URL', async () => {
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

  it('starts no second process while it cannot write its endpoint file', async () => {
    const dataFolder = temporaryFolder();
    let errors = 0;
    const server = new EmbeddedClickHouse({
      dataFolder,
      database: 'chancery',
      httpPort: 0,
      memoryBytes: 1e9,
      logger: pino(
        { level: 'error' },
        {
          write: () => {
            errors += 1;
          },
        },
      ),
    });
    await server.start(never);
    onTestFinished(() => server.stop());
    const { pid } = server.endpoint;
    // A folder with a file in it cannot be replaced, as a file cannot on a full disk.
    const file = join(dataFolder, 'clickhouse', 'endpoint.json');
    rmSync(file);
    mkdirSync(join(file, 'in the way'), { recursive: true });
    process.kill(pid, 'SIGKILL');
    const seen = new Set<number>();
    await until(async () => {
      const running = childrenOn(dataFolder).filter((child) => child !== pid);
      expect(running.length).toBeLessThan(2);
      for (const child of running) seen.add(child);
      return errors >= 4;
    });
    expect(server.health.ready).toBe(false);
    rmSync(file, { recursive: true });
    await until(async () => server.health.ready);
    expect([...seen]).toEqual([server.endpoint.pid]);
    expect((await findEmbedded(dataFolder))?.pid).toBe(server.endpoint.pid);
  });

  it('shuts down cleanly, removes its endpoint file, and restarts with its data', async () => {
    const dataFolder = temporaryFolder();
    const first = serverOn(dataFolder);
    await first.start(never);
    const { pid, owner } = first.endpoint;
    await runAs(owner, 'CREATE DATABASE chancery');
    await runAs(owner, 'CREATE TABLE chancery.t (a UInt64) ENGINE = MergeTree ORDER BY a AS SELECT 1 AS a');
    await first.stop();
    await first.stop();
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

  it('kills a server that hangs and whose supervisor was killed', async () => {
    const dataFolder = temporaryFolder();
    const { parent, pid, url } = await startedByAnother(dataFolder);
    process.kill(pid, 'SIGSTOP');
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    const next = serverOn(dataFolder);
    await next.start(never);
    expect(isRunning(pid)).toBe(false);
    expect(next.endpoint.url).toBe(url);
    await next.stop();
  });

  it('can be started again at once after it was killed while it started', async ({ skip }) => {
    if (platform !== 'linux') skip('the process is found in /proc');
    const dataFolder = temporaryFolder();
    const killed = serverOn(dataFolder);
    const starting = killed.start(never);
    await until(async () => childrenOn(dataFolder).length > 0);
    process.kill(childrenOn(dataFolder)[0] ?? 0, 'SIGKILL');
    await expect(starting).rejects.toThrow(UnavailableError);
    await expect(starting).rejects.toThrow('the embedded ClickHouse was killed by SIGKILL while it started');
    await killed.stop();
    const next = serverOn(dataFolder);
    await next.start(never);
    await next.stop();
  });

  it('waits for the port that the server of a process holds that was killed while it started', async () => {
    const dataFolder = temporaryFolder();
    const port = await freePort();
    const parent = spawn('sleep', ['1000']);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    mkdirSync(join(dataFolder, 'clickhouse'));
    writeFileSync(join(dataFolder, 'clickhouse', 'ports.json'), JSON.stringify({ http: port, supervisor: parent.pid }));
    const starting = createServer().listen(port, '127.0.0.1');
    await once(starting, 'listening');
    const next = serverOn(dataFolder, port);
    const started = next.start(never);
    setTimeout(() => starting.close(), 500);
    await started;
    expect(next.endpoint.url).toBe(`http://127.0.0.1:${port}`);
    await next.stop();
  });

  it('reports in one line that the port is in use', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as { port: number };
    const server = serverOn(temporaryFolder(), port);
    await expect(server.start(never)).rejects.toThrow(
      new UsageError(`port ${port} is taken; choose another with --clickhouse-port, or 0 for a free one`),
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
