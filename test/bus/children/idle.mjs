// Consumes an idle topic for three seconds and prints the share of one processor that it used.
import { writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { openBusOfParent } from './open-bus.mjs';

const bus = openBusOfParent();
const [, , , topic, group, partitions] = process.argv;
let assigned = 0;
let allAssigned;
const ready = new Promise((resolve) => {
  allAssigned = resolve;
});
const handler = {
  onAssigned: async () => {
    assigned += 1;
    if (assigned === Number(partitions)) allAssigned();
    return 0;
  },
  onBatch: async () => undefined,
  onRevoked: async () => undefined,
};
const stop = new AbortController();
const consuming = bus.consume({ topics: [topic], group }, handler, stop.signal);
await ready;
const before = process.cpuUsage();
await setTimeout(3000);
const { user, system } = process.cpuUsage(before);
writeSync(1, `${(user + system) / 3e6}\n`);
stop.abort();
await consuming;
await bus.close();
