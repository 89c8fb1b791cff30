// Consumes a topic in a group until it is killed, commits each batch, and prints `assigned P`, `batch P FIRST COUNT`.
import { writeSync } from 'node:fs';
import { openBusOfParent } from './open-bus.mjs';

const bus = openBusOfParent();
const [, , , topic, group] = process.argv;
const handler = {
  async onAssigned(partition) {
    writeSync(1, `assigned ${partition.partition}\n`);
    return (await partition.committed()).offset;
  },
  async onBatch(partition, batch) {
    await partition.commit(batch.firstOffset + batch.count);
    writeSync(1, `batch ${partition.partition} ${batch.firstOffset} ${batch.count}\n`);
  },
  async onRevoked() {},
};
await bus.consume({ topics: [topic], group }, handler, new AbortController().signal);
