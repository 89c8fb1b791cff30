import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { awaitWarehouse } from '../../cli/service/database.js';
import { claimLayout } from '../../cli/service/instance.js';
import { runningServices } from '../../cli/service/registry.js';
import { createLogger, loadConfig, Stopped } from '../../core/index.js';
import { EmbeddedClickHouse } from '../../warehouse/index.js';
import { ServiceProcess } from '../support/service-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { MAIN } from './command.js';

describe('a worker whose embedded ClickHouse is not running', () => {
  const log = createLogger({ service: 'test', level: 'fatal' });

  it('waits until it is running', async () => {
    const data = temporaryFolder();
    const settings = loadConfig({ data }, {});
    const { signal } = new AbortController();
    const causes: string[] = [];
    const connected = awaitWarehouse('test', { settings, log, signal, setWaitCause: (cause) => causes.push(cause) });
    claimLayout(data);
    const options = { dataFolder: data, database: 'chancery', httpPort: 0, memoryBytes: 2e9, logger: log };
    const server = new EmbeddedClickHouse(options);
    await server.start(signal);
    await (await connected).close();
    await server.stop();
    expect(causes[0]).toMatch(`waiting for ClickHouse: no ClickHouse is running on ${data}; start it`);
    expect(causes.at(-1)).toBe('starting');
  });

  it('reports on /healthz from the start what it waits for', async () => {
    const data = temporaryFolder();
    const worker = spawn(process.execPath, [MAIN, 'transform', '--data', data], { stdio: 'pipe' });
    onTestFinished(() => void worker.kill('SIGKILL'));
    await once(worker.stderr, 'data');
    const [service] = runningServices(data);
    const response = await fetch(`${service?.health}/healthz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      ok: false,
      cause: expect.stringMatching(`^waiting for ClickHouse: no ClickHouse is running on ${data}; start it with`),
    });
    worker.kill('SIGTERM');
    expect(await once(worker, 'exit')).toEqual([0, null]);
  });

  it('stops waiting when it is aborted', async () => {
    const stop = new AbortController();
    const settings = loadConfig({ data: temporaryFolder() }, {});
    const waiting = awaitWarehouse('test', { settings, log, signal: stop.signal, setWaitCause: () => undefined });
    stop.abort(new Stopped('test'));
    await expect(waiting).rejects.toThrow(Stopped);
  });
});

describe('a worker whose external ClickHouse is not running', () => {
  it('waits until it is running, then creates the tables', async () => {
    const data = temporaryFolder();
    const logger = createLogger({ service: 'test', level: 'fatal' });
    const options = { dataFolder: data, database: 'chancery', httpPort: 0, memoryBytes: 2e9, logger };
    const { signal } = new AbortController();
    const before = new EmbeddedClickHouse(options);
    await before.start(signal);
    const { url, user, password } = before.endpoint.owner;
    await before.stop();
    const login = ['--clickhouse-url', url, '--clickhouse-user', user, '--clickhouse-password', password.reveal()];
    const port = Number(new URL(url).port);
    const nobody = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    const starting = ServiceProcess.start('transform', ['--data', temporaryFolder(), '--stop-with-parent', ...login]);
    await once(nobody, 'connection');
    await once(nobody.close(), 'close');
    const after = new EmbeddedClickHouse({ ...options, httpPort: port });
    await after.start(signal);
    const worker = await starting;
    expect(worker.stderr).toContain('does not respond');
    expect(await worker.stop()).toBe(0);
    await after.stop();
  });
});
