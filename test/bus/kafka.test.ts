import { describeWithKafka } from '../kafka/index.js';
import { busContract } from './contract.js';

describeWithKafka('Kafka', {}, (kafka) => {
  busContract('the bus on Kafka', async () => {
    const { prefix } = kafka.open();
    const open = [kafka.open({ prefix })];
    return {
      async open(options = {}) {
        const bus = kafka.open({ prefix, ...options });
        open.push(bus);
        return bus;
      },
      async expire(topic) {
        const partitions = (await open[0]?.partitions())?.filter((p) => p.topic === topic) ?? [];
        const admin = await kafka.admin();
        // DeleteRecords fails unless the client has fetched the topic's leaders.
        await admin.fetchTopicOffsets(prefix + topic);
        await admin.deleteTopicRecords({
          topic: prefix + topic,
          partitions: partitions.map(({ partition, end }) => ({ partition, offset: String(end) })),
        });
      },
      childArgument: JSON.stringify({ kind: 'kafka', brokers: kafka.brokers, prefix, sessionTimeoutMs: 1500 }),
      takeoverMs: 20_000,
      async close() {
        await Promise.all(open.map((bus) => bus.close()));
      },
    };
  });
});
