#!/usr/bin/env node
import { setTimeout } from 'node:timers/promises';
import { type Command, CommanderError } from 'commander';
import { describeError, drained, printable } from '../core/index.js';
import { EXIT, explain } from './errors.js';
import { excessArgument } from './excess-argument.js';
import { createProgram } from './program.js';

async function main(): Promise<number> {
  // A reader that closes the pipe (`chancery sql … | head`) is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.stderr.write(`chancery: cannot write the answer: ${describeError(error)}\n`);
    process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed);
  });
  // A log line that cannot be written (full disk) ends nothing.
  process.stderr.on('error', () => undefined);
  try {
    const args = process.argv.slice(2);
    await parse(await createProgram(args), args);
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    if (error instanceof CommanderError) return commanderEnded(error);
    const { message, exitCode, defect } = explain(error);
    process.stderr.write(`chancery: ${printable(message)}\n`);
    if (defect && error instanceof Error) process.stderr.write(`${error.stack?.split('\n').slice(1).join('\n')}\n`);
    return exitCode;
  }
}

async function parse(program: Command, args: string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    const excess = excessArgument(program, args);
    if (!(error instanceof CommanderError) || error.code !== 'commander.excessArguments' || !excess) throw error;
    throw new CommanderError(error.exitCode, error.code, excess);
  }
}

/** Help or version was printed, or it is an error like `error: unknown option '--dta'\n(Did you mean --data?)`. */
function commanderEnded(error: CommanderError): number {
  if (error.code.startsWith('commander.help') || error.code === 'commander.version') {
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  const text = error.message
    .replace(/^error: |\.$/g, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace('(Did you', '(did you');
  process.stderr.write(`chancery: ${text}; try --help\n`);
  return EXIT.usage;
}

/** How long the exit waits for a slow reader of the output, milliseconds; `chancery sql` waits without limit. */
const OUTPUT_TIMEOUT_MS = 200;

const exitCode = await main();
const last = Promise.allSettled([drained(process.stdout), drained(process.stderr)]);
await Promise.race([last, setTimeout(OUTPUT_TIMEOUT_MS)]);
process.exit(exitCode);
