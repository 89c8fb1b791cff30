import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedBus, openEmbeddedBus } from '../../bus/index.js';
import { busContract } from './contract.js';

busContract('the embedded log', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'chancery-bus-'));
  const open: EmbeddedBus[] = [];
  return {
    async open(options = {}) {
      const bus = openEmbeddedBus({ dir, retentionEveryMs: 0, ...options });
      open.push(bus);
      return bus;
    },
    async expire(topic) {
      const [bus] = open;
      const partitions = (await bus?.partitions())?.filter((p) => p.topic === topic).length ?? 0;
      await bus?.ensureTopic(topic, { partitions, retentionMs: null, retentionBytes: 0 });
      await bus?.sweep();
      await bus?.ensureTopic(topic, { partitions, retentionMs: null, retentionBytes: null });
    },
    childArgument: JSON.stringify({ kind: 'embedded', dir }),
    takeoverMs: 5000,
    async close() {
      await Promise.all(open.map((bus) => bus.close()));
      await rm(dir, { recursive: true, force: true });
    },
  };
});
