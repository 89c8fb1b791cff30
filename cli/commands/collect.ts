import type { Command } from 'commander';
import { Collector } from '../../collectors/index.js';
import { closing, openBus } from '../parts/instance.js';
import { runPart } from '../parts/run-part.js';
import { withSettings } from '../settings.js';
import { COLLECT } from '../settings-by-command.js';

const EXAMPLES = `
Examples:
  chancery collect --exchange-url https://exchange.example
  chancery collect --data /srv/chancery --history-days 90
`;

/** `chancery collect`: everything public of the exchange, onto the bus. */
export function define(command: Command): void {
  command.addHelpText('after', EXAMPLES.trimEnd()).action(() =>
    runPart(command, 'collect', ({ settings, log, metrics }) => {
      const bus = openBus(settings, log);
      const collector = new Collector({ settings, bus, log, metrics });
      return {
        components: [closing(bus), collector],
        health: () => collector.health(),
        failed: collector.failed,
      };
    }),
  );
  withSettings(command, COLLECT);
}
