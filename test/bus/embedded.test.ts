import { type EmbeddedBus, openEmbeddedBus } from '../../bus/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { busContract } from './contract.js';

busContract('the embedded log', async () => {
  const dir = temporaryFolder();
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
    takeoverMs: 20_000,
    async close() {
      await Promise.all(open.map((bus) => bus.close()));
    },
  };
});
