// For each line `PATH MOMENT` on stdin: opens the data folder at that moment (Unix milliseconds) and says whether it did.
// An empty line closes it.
import { createInterface } from 'node:readline';
import { DataFolder } from '../../../dist/exchange/store/index.js';

let folder;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === '') {
    await folder?.close();
    folder = undefined;
    process.stdout.write('closed\n');
    continue;
  }
  const [path, moment] = line.split(' ');
  while (Date.now() < Number(moment));
  try {
    folder = await DataFolder.open(path);
    process.stdout.write('opened\n');
  } catch (error) {
    process.stdout.write(`${error.message}\n`);
  }
}
