import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/index.js';
import type { FaultFreeReport } from './fault-free.js';
import { type FaultsReport, renderMatrix } from './report.js';
import type { Pace } from './stage.js';

const PAGE = join(packageRoot(), 'docs/reliability.md');
/** The table is between these lines. */
const BEGIN = '<!-- fault matrix: written by npm run faults -- --write-docs -->';
const END = '<!-- end of the fault matrix -->';

const FAULT_FREE = join(packageRoot(), 'docs/fault-free.json');

export function writeFaultFree(report: FaultFreeReport): void {
  writeFileSync(FAULT_FREE, `${JSON.stringify(report, undefined, 2)}\n`);
}

/** Replaces the table in docs/reliability.md. */
export function writeMatrix(report: FaultsReport, { pace, command }: { pace: Pace; command: string }): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const after = rest.split(END)[1];
  if (after === undefined) throw new Error(`${PAGE} has no place for the table`);
  const { silenceMs, auditMs, events } = pace;
  const about = [
    `\`${command}\`, seed ${report.seed}: ${report.seconds} s, ${events} events, ${report.changes} changes of the exchange;`,
    `\`--silence-ms ${silenceMs}\`, \`--audit-ms ${auditMs}\`. By \`feed_loss_estimate\`, at most`,
    `${report.maxUnnoticed.toFixed(0)} changes of the order book were lost without an audit noticing (upper 95 % bound).`,
  ];
  const failures = report.failures.map((failure) => `- ${failure}`);
  const parts = [
    BEGIN,
    '',
    about.join('\n'),
    '',
    renderMatrix(report),
    '',
    ...failures,
    ...(failures.length > 0 ? [''] : []),
    END,
  ];
  writeFileSync(PAGE, `${before}${parts.join('\n')}${after}`);
}
