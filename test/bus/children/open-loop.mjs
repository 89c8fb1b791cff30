// Opens the log and closes it, again and again until it is killed, and prints how often it did.
import { writeSync } from 'node:fs';
import { openBusOfParent } from './open-bus.mjs';

for (let n = 1; ; n++) {
  const bus = openBusOfParent();
  await bus.partitions();
  await bus.close();
  writeSync(1, `${n}\n`);
}
