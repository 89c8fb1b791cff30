import { type Command, CommanderError } from 'commander';
import { printable } from '../core/index.js';
import { EXIT, explain } from './errors.js';
import { excessArgument } from './excess-argument.js';
import { createProgram } from './program.js';

/**
 * Runs the `chancery` command with these arguments until it ends. An error is printed to standard error in one line.
 * @param args without the program's own name
 * @returns the exit code
 */
export async function runCommandLine(args: string[]): Promise<number> {
  try {
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

/** Exit code after help or version was printed, or after an error like `error: unknown option '--dta'\n(Did you mean --data?)`. */
function commanderEnded(error: CommanderError): number {
  if (error.code.startsWith('commander.help') || error.code === 'commander.version') {
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  process.stderr.write(`chancery: ${reworded(error.message)}; try --help\n`);
  return EXIT.usage;
}

/** A message of commander, in the words of our own messages. */
function reworded(message: string): string {
  return message
    .replace(/^error: |\.$/g, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace('(Did you', '(did you')
    .replace(/^option '(--[\w-]+).*?' argument '(.*)' is invalid\. /s, '$1 is "$2": ')
    .replace(/^command-argument value '(.*)' is invalid for argument '(.*?)'\. /s, '$2 is "$1": ')
    .replace(': Allowed choices are ', ': it must be one of ')
    .replace(/^(option '.*') argument missing$/, '$1 needs a value')
    .replace(/^required (option '.*') not specified$/, '$1 is required')
    .replace(/^missing required argument '(.*)'$/, 'argument $1 is missing');
}
