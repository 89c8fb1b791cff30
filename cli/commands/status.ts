import type { Command } from 'commander';
import { assertInstance } from '../service/instance.js';
import { settingsOf } from '../settings.js';
import { renderStatus } from '../status/render.js';
import { instanceStatus } from '../status/report.js';

/** `chancery status`: running services, lag, recorded data and gaps. */
export function define(command: Command): void {
  command
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  chancery status\n  chancery status --data /srv/chancery --json')
    .action(async (options: { json?: boolean }) => {
      const { settings } = settingsOf(command);
      assertInstance(settings);
      const report = await instanceStatus(settings);
      const text = options.json ? JSON.stringify(report, undefined, 2) : renderStatus(report).join('\n');
      process.stdout.write(`${text}\n`);
    });
}
