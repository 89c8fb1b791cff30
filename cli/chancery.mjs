#!/usr/bin/env node
// What npm runs as `chancery`. It is here before the command is built: npm makes no link to a missing file, and never tries again.
import { existsSync } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('chancery: it is not built yet: wait for `npm start`, or run `npm run build`\n');
  process.exitCode = 1;
}
