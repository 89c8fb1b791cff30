// Opens and closes the log in a loop until it is killed, and prints how often.
import { writeSync } from 'node:fs';
import { openBusOfParent } from './open-bus.mjs';

for (let n = 1; ; n++) {
  const bus = openBusOfParent();
  await bus.partitions();
  await bus.close();
  writeSync(1, `${n}\n`);
}
