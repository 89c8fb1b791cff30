import type { Command } from 'commander';
import { processSignal, type Settings } from '../../core/index.js';
import { openWarehouse } from '../service/database.js';
import { settingsOf } from '../settings.js';

const EXAMPLES = `
Examples:
  chancery migrate
  CLICKHOUSE_URL=https://clickhouse.example:8443 chancery migrate
  CLICKHOUSE_CLUSTER='http://a1:8123,http://a2:8123;http://b1:8123,http://b2:8123' chancery migrate
`;

/** `chancery migrate`: creates or updates the tables and views. */
export function define(command: Command): void {
  command.addHelpText('after', EXAMPLES.trimEnd()).action(async () => {
    const { settings } = settingsOf(command);
    const lines = await migrateInstance(settings, processSignal());
    process.stdout.write(`${lines.length > 0 ? lines.join('\n') : 'nothing to do: the database is up to date'}\n`);
  });
}

/** One line per change; on a cluster with the node. */
async function migrateInstance(settings: Settings, signal: AbortSignal): Promise<string[]> {
  const warehouse = await openWarehouse(settings, 'chancery migrate');
  try {
    const results = await warehouse.migrate(signal);
    return results.flatMap(({ url, migrations, views, dropped }) =>
      [
        ...migrations.map((name) => `applied migration ${name}`),
        ...views.map((name) => `created view ${name}`),
        ...dropped.map((name) => `dropped view ${name}`),
      ].map((line) => (results.length > 1 ? `${line} at ${url}` : line)),
    );
  } finally {
    await warehouse.close();
  }
}
