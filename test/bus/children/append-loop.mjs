// Appends numbered records to a topic until it is killed, and prints `from to` of each append once it is acknowledged.
import { writeSync } from 'node:fs';
import { openBusOfParent } from './open-bus.mjs';

const bus = openBusOfParent();
const [, , , topic, writer] = process.argv;
for (let n = 0; ; ) {
  const from = n;
  const records = Array.from({ length: 1 + ((n * 7) % 50) }, () => {
    const value = Buffer.from(JSON.stringify({ writer, n, fill: 'y'.repeat((n * 31) % 3000) }));
    return { key: `${writer}-${n++ % 3}`, value };
  });
  await bus.append(topic, records);
  writeSync(1, `${from} ${n}\n`);
}
