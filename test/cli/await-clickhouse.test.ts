import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { awaitOwner } from '../../cli/parts/database.js';
import { createLogger, loadConfig, Stopped } from '../../core/index.js';
import { EmbeddedClickHouse } from '../../warehouse/index.js';
import { Part } from '../support/part.js';
import { temporaryFolder } from './command.js';

describe('a worker whose embedded ClickHouse is not there', () => {
  const log = createLogger({ part: 'test', level: 'fatal' });

  it('waits until it comes', async () => {
    const data = temporaryFolder();
    const settings = loadConfig({ data }, {});
    const { signal } = new AbortController();
    const connected = awaitOwner(settings, 'test', log, signal);
    const options = { dataFolder: data, database: 'chancery', httpPort: 0, memoryBytes: 2e9, logger: log };
    const server = new EmbeddedClickHouse(options);
    await server.start(signal);
    await (await connected).close();
    await server.stop();
  });

  it('stops waiting when it is asked to, and does not wait for a folder that does not exist', async () => {
    const stop = new AbortController();
    const waiting = awaitOwner(loadConfig({ data: temporaryFolder() }, {}), 'test', log, stop.signal);
    stop.abort(new Stopped('asked to'));
    await expect(waiting).rejects.toThrow(Stopped);
    const nowhere = loadConfig({ data: '/nowhere/at/all' }, {});
    await expect(awaitOwner(nowhere, 'test', log, new AbortController().signal)).rejects.toThrow('no ClickHouse runs');
  });
});

describe('a worker whose ClickHouse elsewhere is not there', () => {
  it('waits until it comes, then makes the tables', async () => {
    const data = temporaryFolder();
    const logger = createLogger({ part: 'test', level: 'fatal' });
    const options = { dataFolder: data, database: 'chancery', httpPort: 0, memoryBytes: 2e9, logger };
    const { signal } = new AbortController();
    const before = new EmbeddedClickHouse(options);
    await before.start(signal);
    const { url, user, password } = before.endpoint.owner;
    await before.stop();
    const login = ['--clickhouse-url', url, '--clickhouse-user', user, '--clickhouse-password', password.reveal()];
    const port = Number(new URL(url).port);
    const nobody = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    const starting = Part.start('transform', ['--data', temporaryFolder(), ...login]);
    await once(nobody, 'connection');
    await once(nobody.close(), 'close');
    const after = new EmbeddedClickHouse({ ...options, httpPort: port });
    await after.start(signal);
    const worker = await starting;
    expect(worker.stderr).toContain('does not answer');
    expect(await worker.stop()).toBe(0);
    await after.stop();
  });
});
