import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { platform } from 'node:process';
import { expect, it, onTestFinished, vi } from 'vitest';
import { peakUnreclaimableBytes } from '../../bench/process-usage.js';
import { ServiceProcess } from '../support/service-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/** What docker-compose.yml gives a collector. */
const LIMIT_BYTES = 512 * 1024 ** 2;
/** What Node.js sets in a container of this size. */
const HEAP = '--max-old-space-size=256';
const BODY_BYTES = 60e6;
/** The polls of public data begin together: event search, new events, categories, tags and coins. */
const RESPONSES = 6;

/** An exchange whose every response is large; its streams refuse connections. Resolves with its URL. */
async function largeExchange(): Promise<string> {
  const body = Buffer.from(JSON.stringify({ pad: 'x'.repeat(BODY_BYTES) }));
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(body);
  });
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('a collector stays below the memory limit of docker-compose.yml with responses of 60 MB', async ({ skip }) => {
  if (platform !== 'linux') skip('the peak is read from /proc');
  const url = await largeExchange();
  vi.stubEnv('NODE_OPTIONS', HEAP);
  onTestFinished(() => void vi.unstubAllEnvs());
  const options = ['--data', join(temporaryFolder(), 'data'), '--exchange-url', url, '--request-timeout-ms', '60000'];
  const collector = await ServiceProcess.start<{ health: string }>('collect', options);
  onTestFinished(() => collector.kill9());
  await until(async () => {
    const metrics = await (await fetch(`${collector.ready.health}/metrics`)).text();
    const counts = [...metrics.matchAll(/^chancery_collector_requests_total\{.*status="200".*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0) >= RESPONSES;
  }, 120_000);
  expect(peakUnreclaimableBytes(collector.pid)).toBeLessThan(LIMIT_BYTES);
  expect(await collector.stop()).toBe(0);
});
