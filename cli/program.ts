import { Command } from 'commander';
import { packageVersion } from '../core/index.js';
import { withSettings } from './settings.js';
import { SUBCOMMANDS } from './subcommands.js';

/**
 * The `chancery` command for these arguments: all its subcommands, the requested one with its arguments and options.
 * Parse errors are thrown as CommanderError.
 * @param args without the program's own name
 */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('chancery')
    .description('Records a prediction market into ClickHouse, exactly once, and answers questions about it.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  const requested = args.find((arg) => !arg.startsWith('-') && arg !== 'help');
  for (const [name, { about, load }] of Object.entries(SUBCOMMANDS)) {
    const command = program.command(name).description(about);
    if (name !== requested) continue;
    (await load()).define(command);
    withSettings(command);
  }
  return program;
}
