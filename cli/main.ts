#!/usr/bin/env node
import { setTimeout } from 'node:timers/promises';
import { describeError, drained } from '../core/index.js';
import { runCommandLine } from './command-line.js';
import { EXIT } from './errors.js';

/** How long the process waits at exit for a slow reader of its output, milliseconds; `chancery sql` has no limit. */
const OUTPUT_TIMEOUT_MS = 200;

// A reader that closes the pipe (`chancery sql … | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.stderr.write(`chancery: cannot write the result: ${describeError(error)}\n`);
  process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed);
});
// A log line that cannot be written (full disk) does not end the process.
process.stderr.on('error', () => undefined);

const exitCode = await runCommandLine(process.argv.slice(2));
const last = Promise.allSettled([drained(process.stdout), drained(process.stderr)]);
await Promise.race([last, setTimeout(OUTPUT_TIMEOUT_MS)]);
process.exit(exitCode);
