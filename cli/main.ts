#!/usr/bin/env node
import { CommanderError } from 'commander';
import { ChanceryError, describeError, Stopped, UsageError } from '../core/index.js';
import { createProgram } from './program.js';

/** Exit codes: 0 done, 1 it failed, 2 it was asked for wrongly. */
async function main(): Promise<number> {
  // A reader that has seen enough (`chancery sql … | head`) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  try {
    await createProgram().parseAsync();
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof Stopped) return 0;
    if (error instanceof CommanderError) {
      if (error.code.startsWith('commander.help') || error.code === 'commander.version') return error.exitCode && 2;
      return fail(`${commanderText(error)}; try --help`, 2);
    }
    return fail(describeError(error), error instanceof UsageError ? 2 : 1, error);
  }
}

/** `error: unknown option '--dta'\n(Did you mean --data?)` as one line without the prefix. */
function commanderText(error: CommanderError): string {
  return error.message
    .replace(/^error: |\.$/g, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\(Did you/, '(did you');
}

function fail(message: string, code: number, error?: unknown): number {
  process.stderr.write(`chancery: ${message}\n`);
  // A defect of Chancery itself, not of what it was asked: where it happened is worth more than a clean screen.
  if (error instanceof Error && !(error instanceof ChanceryError) && error.stack) {
    process.stderr.write(`${error.stack.split('\n').slice(1).join('\n')}\n`);
  }
  return code;
}

process.exit(await main());
