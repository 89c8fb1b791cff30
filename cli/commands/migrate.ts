import type { Command } from 'commander';
import { processSignal } from '../../core/index.js';
import { migrateInstance } from '../parts/database.js';
import { settingsOf, withSettings } from '../settings.js';
import { MIGRATE } from '../settings-by-command.js';

const EXAMPLES = `
Examples:
  chancery migrate
  CLICKHOUSE_URL=https://clickhouse.example:8443 chancery migrate
`;

/** `chancery migrate`: tables and views up to date; harmless when they are. */
export function define(command: Command): void {
  command.addHelpText('after', EXAMPLES.trimEnd()).action(async () => {
    const { settings } = settingsOf(command);
    const { migrations, views, dropped } = await migrateInstance(settings, processSignal());
    const lines = [
      ...migrations.map((name) => `applied migration ${name}`),
      ...views.map((name) => `made view ${name}`),
      ...dropped.map((name) => `dropped view ${name}`),
    ];
    process.stdout.write(`${lines.length > 0 ? lines.join('\n') : 'nothing to do: the database is up to date'}\n`);
  });
  withSettings(command, MIGRATE);
}
