import type { Command } from 'commander';
import { flagOf } from '../../core/index.js';
import { EXCHANGE_OPTIONS } from '../../exchange/index.js';
import { exchangeFlag, exchangePortFlag, exchangePortOf } from '../exchange-options.js';
import { checkCollector } from '../service/service-options.js';
import { settingsOf } from '../settings.js';
import { runUp } from '../up/run-up.js';

/** Options of the simulated exchange that `up` passes to it. */
const EXCHANGE_FLAGS = ['seed', 'events', 'bots', 'pace'] as const;

const EXAMPLES = `
Examples:
  chancery up
  chancery up --data /srv/chancery --events 100 --pace 2
  chancery up --exchange-url https://exchange.example
  CLICKHOUSE_URL=http://127.0.0.1:8123 chancery up
`;

/** `chancery up`: everything on one machine. */
export function define(command: Command): void {
  command.addHelpText('after', EXAMPLES.trimEnd()).addOption(exchangePortFlag());
  for (const name of EXCHANGE_FLAGS) {
    command.addOption(exchangeFlag(EXCHANGE_OPTIONS[name], 'simulated exchange: '));
  }
  command.action(async () => {
    const { settings, given } = settingsOf(command);
    checkCollector(settings);
    await runUp({ settings, given, exchangePort: exchangePortOf(command), exchangeFlags: exchangeFlags(command) });
  });
}

function exchangeFlags(command: Command): string[] {
  return EXCHANGE_FLAGS.flatMap((name) => {
    const value: unknown = command.getOptionValue(name);
    return value === undefined ? [] : [flagOf(name), String(EXCHANGE_OPTIONS[name].parse(value))];
  });
}
