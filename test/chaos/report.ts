import type { Difference } from '../pipeline/ledger.js';
import type { Fault } from '../support/fault-proxy.js';
import { type Audit, totals } from './audit.js';
import type { BusKind } from './stage.js';
import type { Tally } from './tally.js';

export interface ChaosReport {
  readonly bus: BusKind;
  readonly seed: number;
  readonly seconds: number;
  readonly tally: Tally;
  readonly faults: ReadonlyMap<Fault, number>;
  readonly audit: Audit;
  /** Inserts of the summary of a large batch of ticks. */
  readonly summaries: number;
  /** Last output of processes that exited unexpectedly. */
  readonly failures: readonly string[];
  /** The origin of wrong rows. */
  readonly explanation: readonly string[];
}

/** Whether every record is stored once at the end. */
export const isClean = ({ audit }: ChaosReport): boolean => {
  const { missing, duplicate } = totals(audit);
  return missing === 0 && duplicate === 0 && audit.withoutAnswer.length === 0;
};

/** The report as a plain text table. */
export function renderReport({ bus, seed, seconds, tally, faults, audit, summaries, failures }: ChaosReport): string {
  const struck = [...faults.values()].reduce((sum, n) => sum + n, 0);
  const { expected, found, missing, duplicate } = totals(audit);
  const lines = [
    `chaos on ${bus}, seed ${seed}, ${seconds} s`,
    '',
    row('processes killed', tally.kills),
    ...[...tally.counts].map(([what, n]) => row(`  ${what}`, n)),
    row('faults between worker and ClickHouse', struck),
    ...[...faults].map(([what, n]) => row(`  ${what}`, n)),
    row('processes that ended by themselves', failures.length),
    '',
    row('records appended', audit.records),
    row('  of them sent again', audit.repeats),
    row('  of them pieces of larger bodies', audit.pieces),
    row('  of them acknowledged to a ledger', audit.acknowledged),
    row('  acknowledged and not on the bus', audit.lost.length),
    row('summaries of large batches inserted', summaries),
    '',
    header('table', 'expected', 'found', 'missing', 'duplicate'),
    ...[...audit.tables, ...audit.states].map(([table, d]) => differenceRow(table, d)),
    header('all', expected, found, missing, duplicate),
  ];
  return lines.join('\n');
}

const WIDTH = 50;
const row = (what: string, n: number): string => `${what.padEnd(WIDTH)}${String(n).padStart(10)}`;

const header = (table: string, ...columns: (string | number)[]): string =>
  `${table.padEnd(26)}${columns.map((column) => String(column).padStart(10)).join('')}`;

function differenceRow(table: string, { expected, found, counts }: Difference): string {
  return header(table, expected, found, counts.missing, counts.duplicate + counts.invented);
}

/** The first wrong rows of each table, and their origin. */
export function renderFaults({ audit, failures, explanation }: ChaosReport): string {
  const lines = failures.map((failure) => `ended: ${failure}`);
  for (const [table, { missing, duplicate, invented }] of [...audit.tables, ...audit.states]) {
    for (const [what, rows] of Object.entries({ missing, duplicate, invented })) {
      for (const text of rows) lines.push(`${what} in ${table}: ${text}`);
    }
  }
  lines.push(...audit.withoutAnswer.map((view) => `no answer of ${view}`));
  for (const key of audit.lost.slice(0, 5)) lines.push(`acknowledged and lost: ${key}`);
  return [...lines, ...explanation].join('\n');
}
