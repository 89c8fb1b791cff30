import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createLogger, STOP_MS } from '../../core/index.js';
import { EmbeddedClickHouse } from '../../warehouse/index.js';
import { exchangeWith, startCollector } from '../collectors/rig.js';
import { startTestExchange } from '../support/exchange.js';
import { runAs } from '../support/run-as.js';
import { temporaryFolder } from '../support/temporary-folder.js';

async function durationOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

describe('within the time of a shutdown', () => {
  it('an exchange with an open connection ends', async () => {
    const exchange = await startTestExchange({ ownProcess: true, endedBy: 'caller', events: 2, bots: 2 });
    const socket = await exchange.connect('/event/ws');
    const closed = once(socket.ws, 'close');
    expect(await durationOf(() => exchange.stop())).toBeLessThan(STOP_MS.total);
    await closed;
  });

  it('a collector stops whose bus accepts nothing', async () => {
    const { server } = await exchangeWith(1);
    const rig = await startCollector(server.url);
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    rig.bus.append = () => new Promise(() => undefined);
    expect(await durationOf(() => rig.stop())).toBeLessThan(STOP_MS.total);
  });

  it('ClickHouse stops after an insert', async () => {
    const logger = createLogger({ service: 'clickhouse', level: 'fatal' });
    const options = { dataFolder: temporaryFolder(), database: 'chancery', httpPort: 0, memoryBytes: 1e9, logger };
    const server = new EmbeddedClickHouse(options);
    await server.start(new AbortController().signal);
    await runAs(server.endpoint.owner, 'CREATE DATABASE chancery');
    await runAs(
      server.endpoint.owner,
      'CREATE TABLE chancery.t (a UInt64) ENGINE = MergeTree ORDER BY a AS SELECT 1 AS a',
    );
    expect(await durationOf(() => server.stop())).toBeLessThan(STOP_MS.total);
  });
});
