import { Command } from 'commander';
import { packageVersion } from '../core/index.js';

interface Subcommand {
  readonly about: string;
  /** What defines its arguments, options and action; loaded only for the one that is asked for. */
  readonly load: () => Promise<{ define(command: Command): void }>;
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  up: {
    about: 'run everything: exchange, collector, embedded log, transform worker, embedded ClickHouse',
    load: () => import('./commands/up.js'),
  },
  exchange: {
    about: 'run only the simulated exchange: REST, streams, a matching engine and bots that trade',
    load: () => import('./commands/exchange.js'),
  },
  collect: {
    about: 'run only the collector: streams and polls of the exchange, onto the bus',
    load: () => import('./commands/collect.js'),
  },
  transform: {
    about: 'run only a transform worker: from the bus into ClickHouse, exactly once',
    load: () => import('./commands/transform.js'),
  },
  warehouse: {
    about: 'run only the embedded ClickHouse server of the data folder',
    load: () => import('./commands/warehouse.js'),
  },
  migrate: {
    about: 'bring the tables and views of ClickHouse up to date',
    load: () => import('./commands/migrate.js'),
  },
  sql: {
    about: 'answer a question in SQL, as a user who can only read',
    load: () => import('./commands/sql.js'),
  },
  status: {
    about: 'what runs on a data folder, what waits, what was recorded, what is missing',
    load: () => import('./commands/status.js'),
  },
  init: {
    about: 'write the settings and fresh passwords that docker-compose.yml needs',
    load: () => import('./commands/init.js'),
  },
  doctor: {
    about: 'check what Chancery needs on this machine and say how to mend what is wrong',
    load: () => import('./commands/doctor.js'),
  },
};

/** The names of all subcommands. */
export const SUBCOMMAND_NAMES: readonly string[] = Object.keys(SUBCOMMANDS);

/**
 * The `chancery` command for these arguments: all its subcommands, the one that is asked for with everything it takes.
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
  const asked = args.find((arg) => !arg.startsWith('-') && arg !== 'help');
  for (const [name, { about, load }] of Object.entries(SUBCOMMANDS)) {
    const command = program.command(name).description(about);
    if (name === asked) (await load()).define(command);
  }
  return program;
}
