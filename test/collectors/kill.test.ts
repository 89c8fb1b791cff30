import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openEmbeddedBus } from '../../bus/index.js';
import { type CollectorEvent, TOPICS } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { eventsOf, exchangeWith, recordsOf } from './rig.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

describe('a collector that is killed', () => {
  it('leaves everything that it acknowledged on the bus, in order, and its session open', async () => {
    const { server } = await exchangeWith(4);
    await server.control('POST', '/load', { framesPerSecond: 3000 });
    const data = temporaryFolder();
    for (let round = 1; round <= 3; round++) {
      const child = spawn(process.execPath, [MAIN, 'collect', '--data', data, '--exchange-url', server.url], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      await once(createInterface({ input: child.stdout }), 'line');
      const bus = openEmbeddedBus({ dir: join(data, 'bus'), retentionEveryMs: 0 });
      const sessions = async () => {
        const found = await recordsOf(bus, TOPICS.collectorEvents);
        const started = found.filter((r) => (r.body as CollectorEvent).type === 'session-started');
        return started.sort((a, b) => a.receivedAt - b.receivedAt).map((r) => r.sessionId);
      };
      const alive = async () => {
        const sessionId = (await sessions())[round - 1];
        return eventsOf(
          (await recordsOf(bus, TOPICS.collectorEvents)).filter((r) => r.sessionId === sessionId),
          'heartbeat',
        );
      };
      await until(async () => (await alive()).some((m) => (m.acknowledged[TOPICS.orderBook] ?? 0) > 1000));
      child.kill('SIGKILL');
      await once(child, 'close');
      const sessionId = (await sessions())[round - 1];
      const acknowledged = (await alive()).at(-1)?.acknowledged ?? {};
      for (const [topic, last] of Object.entries(acknowledged)) {
        const own = (await recordsOf(bus, topic as (typeof TOPICS)[keyof typeof TOPICS])).filter(
          (r) => r.sessionId === sessionId,
        );
        expect(own.map((r) => r.sequence)).toEqual(own.map((_, i) => i + 1));
        expect(own.length).toBeGreaterThanOrEqual(last);
      }
      expect(eventsOf(await recordsOf(bus, TOPICS.collectorEvents), 'session-stopped')).toEqual([]);
      await bus.close();
    }
  });
});
