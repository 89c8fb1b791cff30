import type { Command } from 'commander';
import { createLogger, processSignal } from '../../core/index.js';
import { EXCHANGE_OPTIONS, type ExchangeOption, readExchangeOptions, startExchange } from '../../exchange/index.js';
import { exchangeFlag } from '../exchange-options.js';
import { botsOf } from '../service/bots.js';
import { openDataFolder } from '../service/data-folder.js';
import { ServiceEntry } from '../service/entry.js';
import { instancePaths } from '../service/instance.js';
import { ignoreOutputErrors } from '../service/output.js';
import { untilStopped } from '../service/run-service.js';
import { settingsOf } from '../settings.js';

const EXAMPLES = `
Examples:
  chancery exchange
  chancery exchange --port 0 --seed 7 --events 5
  chancery exchange --data ./data --pace 4
  chancery exchange --bots 0 --load 5000
`;

/** `chancery exchange`: the simulated exchange alone. */
export function define(command: Command): void {
  command.addHelpText('after', EXAMPLES.trimEnd());
  for (const option of Object.values<ExchangeOption<unknown>>(EXCHANGE_OPTIONS))
    command.addOption(exchangeFlag(option));
  command.action(async () => {
    const { settings, given } = settingsOf(command);
    // The exchange stores its data in a folder of the data folder.
    const own = Object.keys(EXCHANGE_OPTIONS).filter((name) => name !== 'data');
    const values = {
      ...Object.fromEntries(own.map((name) => [name, command.getOptionValue(name)])),
      ...(given.has('data') ? { data: instancePaths(settings.data).exchange } : {}),
    };
    readExchangeOptions(values);
    const signal = processSignal(settings.stopWithParent ? process.stdin : undefined);
    const log = createLogger({ service: 'exchange', level: settings.logLevel, plain: process.stderr.isTTY === true });
    ignoreOutputErrors((line) => log.warn(line));
    if (given.has('data') && openDataFolder(settings.data)) log.info(`created the data folder ${settings.data}`);
    const exchange = await startExchange(values, {
      signal,
      log,
      metrics: { host: settings.metricsHost, port: settings.metricsPort },
    });
    const bots = botsOf(exchange, log);
    const about = {
      address: exchange.ready.url,
      ...(exchange.metricsUrl === undefined ? {} : { health: exchange.metricsUrl }),
    };
    const entry = given.has('data') ? new ServiceEntry(settings.data, 'exchange', log) : undefined;
    entry?.publish(about);
    try {
      await bots?.start();
      process.stdout.write(`${JSON.stringify(exchange.ready)}\n`);
      await untilStopped(signal);
    } finally {
      entry?.end();
      await bots?.stop();
      await exchange.close();
    }
  });
}
