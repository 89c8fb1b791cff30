import type { Command } from 'commander';
import { Collector } from '../../collectors/index.js';
import { loadAccounts } from '../../core/index.js';
import { closing, openBus } from '../service/instance.js';
import { runService } from '../service/run-service.js';
import { checkCollector, collectorOptions } from '../service/service-options.js';

const EXAMPLES = `
Examples:
  chancery collect --exchange-url https://exchange.example
  chancery collect --data /srv/chancery --history-days 90
  chancery collect --accounts-file /srv/chancery/accounts.json
  chancery collect --shard 0/2 --kafka-brokers kafka:9092

Accounts: {"alice":{"apiKey":"…","apiSecret":"…"}} in a file with mode 0600, or CHANCERY_ACCOUNT_ALICE_API_KEY and
CHANCERY_ACCOUNT_ALICE_API_SECRET; with email and password (and otp), or token, transactions are recorded too.
`;

/** `chancery collect`: records the exchange's public data and the configured accounts onto the bus. */
export function define(command: Command): void {
  command.addHelpText('after', EXAMPLES.trimEnd()).action(() =>
    runService(
      command,
      'collect',
      ({ settings, log, metrics }) => {
        const accounts = loadAccounts(settings);
        const bus = openBus(settings, log);
        const collector = new Collector({ ...collectorOptions(settings), bus, log, metrics, accounts });
        return {
          components: [closing(bus), collector],
          health: () => collector.health(),
          failed: collector.failed,
        };
      },
      checkCollector,
    ),
  );
}
