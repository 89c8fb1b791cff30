import type { Command } from 'commander';
import { describeError } from '../../core/index.js';
import { busChecks } from '../doctor/bus.js';
import type { Check, Finding } from '../doctor/check.js';
import { clickHouseChecks } from '../doctor/clickhouse.js';
import { exchangeChecks } from '../doctor/exchange.js';
import { machineChecks } from '../doctor/machine.js';
import { portsCheck } from '../doctor/ports.js';
import { rowsCheck } from '../doctor/rows.js';
import { servicesCheck } from '../doctor/services.js';
import { exchangePortFlag, exchangePortOf } from '../exchange-options.js';
import { settingsOf } from '../settings.js';

const LABELS = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

/** `chancery doctor`: checks the requirements on this machine, and says how to fix what is wrong. */
export function define(command: Command): void {
  command
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', '\nExamples:\n  chancery doctor\n  chancery doctor --data /srv/chancery --json')
    .addOption(exchangePortFlag())
    .action(async (options: { json?: boolean }) => {
      const { settings, given } = settingsOf(command);
      const checks = [
        ...machineChecks(settings),
        servicesCheck(settings),
        ...busChecks(settings),
        ...clickHouseChecks(settings),
        rowsCheck(settings),
        portsCheck(settings, { given, exchangePort: exchangePortOf(command) }),
        ...exchangeChecks(settings, given),
      ];
      const findings: (Finding & { check: string })[] = [];
      for (const check of checks) {
        const finding = { check: check.name, ...(await runSafely(check)) };
        findings.push(finding);
        if (!options.json) process.stdout.write(`${lines(finding)}\n`);
      }
      if (options.json) process.stdout.write(`${JSON.stringify(findings, undefined, 2)}\n`);
      if (findings.some((f) => f.state === 'fail')) process.exitCode = 1;
    });
}

/** An unexpected error; its message says what to do. */
async function runSafely(check: Check): Promise<Finding> {
  try {
    return await check.run();
  } catch (error) {
    return { state: 'fail', found: describeError(error) };
  }
}

function lines({ check, state, found, fix }: Finding & { check: string }): string {
  return `${LABELS[state]}  ${check}: ${found}${fix === undefined ? '' : `\n      fix: ${fix}`}`;
}
