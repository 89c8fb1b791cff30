import { Command } from 'commander';
import { packageVersion } from '../core/index.js';
import { collectCommand } from './commands/collect.js';
import { doctorCommand } from './commands/doctor.js';
import { exchangeCommand } from './commands/exchange.js';
import { sqlCommand } from './commands/sql.js';
import { statusCommand } from './commands/status.js';
import { warehouseCommand } from './commands/warehouse.js';

const COMMANDS: readonly ((program: Command) => void)[] = [
  exchangeCommand,
  collectCommand,
  warehouseCommand,
  sqlCommand,
  statusCommand,
  doctorCommand,
];

/** The `chancery` command with all its subcommands; parse errors are thrown as CommanderError. */
export function createProgram(): Command {
  const program = new Command('chancery')
    .description('Records a prediction market into ClickHouse, exactly once, and answers questions about it.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  for (const add of COMMANDS) add(program);
  return program;
}
