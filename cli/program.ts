import { extname } from 'node:path';
import { Command } from 'commander';
import { packageVersion } from '../core/index.js';
import { withSettings } from './settings.js';
import { SUBCOMMANDS } from './subcommands.js';

/**
 * The `chancery` command with all subcommands; only the requested one has its arguments and options.
 * Parse errors are thrown as CommanderError.
 * @param args without the program's own name
 */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('chancery')
    .description(
      'Records a prediction market exchange in ClickHouse, each record exactly once, and answers questions about it.',
    )
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  const requested = args.find((arg) => !arg.startsWith('-') && arg !== 'help');
  for (const [name, { about }] of Object.entries(SUBCOMMANDS)) {
    const command = program.command(name).description(about);
    if (name !== requested) continue;
    (await load(name)).define(command);
    withSettings(command);
  }
  return program;
}

/**
 * Imported only when requested: `chancery sql` does not wait for the exchange's engine to load. The extension is that of
 * this file: `.js`, or `.ts` where TypeScript runs directly.
 */
function load(name: string): Promise<{ define(command: Command): void }> {
  const file = new URL(`./commands/${name}${extname(import.meta.url)}`, import.meta.url);
  return import(file.href);
}
