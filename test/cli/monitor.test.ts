import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openEmbeddedBus } from '../../bus/index.js';
import { instancePaths } from '../../cli/service/instance.js';
import { Monitor } from '../../cli/up/monitor.js';
import { resolveConfig, TOPICS } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('removes its listener after every reading, however often `up` reads while ClickHouse is down', async () => {
  const folder = temporaryFolder();
  const { settings } = resolveConfig({ data: folder }, {}, folder);
  const monitor = new Monitor(settings);
  const { signal } = new AbortController();
  for (let reading = 0; reading < 12; reading++) {
    expect(await monitor.read(signal)).toMatchObject({ tables: [], newestSeconds: undefined });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  }
  await monitor.close();
});

it('ends a reading when `up` is stopped', async () => {
  const folder = temporaryFolder();
  const monitor = new Monitor(resolveConfig({ data: folder }, {}, folder).settings);
  const stop = new AbortController();
  const reading = monitor.read(stop.signal);
  stop.abort(new Error('stop requested'));
  await expect(reading).rejects.toThrow('stop requested');
  await monitor.close();
});

it('counts the records on the bus while ClickHouse does not respond', async () => {
  const folder = temporaryFolder();
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clickhouseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { settings } = resolveConfig({ data: folder, clickhouseUrl }, {}, folder);
  const bus = openEmbeddedBus({ dir: instancePaths(folder).bus, retentionEveryMs: 0 });
  const monitor = new Monitor(settings, 100);
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await monitor.close();
    await bus.close();
  });
  await bus.ensureTopic(TOPICS.chance, { partitions: 1, retentionMs: null, retentionBytes: null });
  const { signal } = new AbortController();
  for (let waiting = 1; waiting <= 3; waiting++) {
    await bus.append(TOPICS.chance, [{ key: 'key', value: Buffer.from('{}') }]);
    expect(await monitor.read(signal)).toEqual({
      tables: [],
      waiting,
      newestSeconds: undefined,
      deadLetters: undefined,
    });
  }
});
