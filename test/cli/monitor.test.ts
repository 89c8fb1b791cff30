import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { Monitor } from '../../cli/up/monitor.js';
import { resolveConfig } from '../../core/index.js';
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
