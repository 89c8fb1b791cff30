// For each line `DATA TIME` on stdin: announces `up` on the data folder at that time and answers `held` or `refused`.
import { createInterface } from 'node:readline';
import { announce } from '../../../dist/cli/service/registry.js';

for await (const line of createInterface({ input: process.stdin })) {
  const [data, time] = line.split(' ');
  while (Date.now() < Number(time));
  try {
    announce(data, 'up', {}, { alone: true });
    process.stdout.write('held\n');
  } catch {
    process.stdout.write('refused\n');
  }
}
