import { parseArgs } from 'node:util';
import { processSignal, Stopped, UsageError } from '../../core/index.js';
import { isWithoutAlarms, runFaultFree } from './fault-free.js';
import { chosenKinds } from './kinds.js';
import { FULL_PACE, QUICK_OCCURRENCES, QUICK_PACE } from './paces.js';
import { renderMatrix, reportOf } from './report.js';
import { runFaults } from './run.js';
import { writeFaultFree, writeMatrix } from './write-docs.js';

const HELP = `npm run faults -- [--quick] [--kinds A,B] [--occurrences N] [--seed S] [--json] [--write-docs] [--quiet]
npm run faults -- --none [--minutes M] [--seed S] [--write-docs] [--quiet]

Causes every kind of fault, 10 times each, and prints what was detected, when, and what was lost. Ends with 1 when a fault
that must be detected was not, when a row was duplicated, or when a lost row is in no gap and in no estimate.

  --quick           ${QUICK_OCCURRENCES} times each, with shorter intervals of probes and audits
  --kinds A,B       only kinds whose name contains A or B
  --occurrences N   how many times each
  --none            no faults: ends with 1 when anything looks like one
  --minutes M       how long, with --none (default 60)
  --seed S          which events, moments and durations
  --json            the result as JSON, with every figure
  --write-docs      writes the table into docs/reliability.md, with --none the result into docs/fault-free.json
  --quiet           prints the result only`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    kinds: { type: 'string' },
    occurrences: { type: 'string' },
    none: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    'write-docs': { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const { quick } = values;
const occurrences = Number(values.occurrences ?? (quick ? QUICK_OCCURRENCES : 10));
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const areValid = Number.isInteger(occurrences) && occurrences > 0 && Number.isInteger(seed) && minutes > 0;
if (values.help || !areValid) {
  process.stdout.write(`${HELP}\n`);
  process.exit(values.help ? 0 : 2);
}

const startedAt = performance.now();
const say = (line: string) => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(7);
  if (!values.quiet) process.stderr.write(`${seconds} s  ${line}\n`);
};
try {
  const isClean = values.none ? await withoutFaults() : await withFaults();
  // Everything is reported: open handles must not delay the exit.
  process.exit(isClean ? 0 : 1);
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`error: ${error.message}\n`);
    process.exit(2);
  }
  if (!(error instanceof Stopped)) throw error;
  process.exit(130);
}

async function withFaults(): Promise<boolean> {
  const kinds = chosenKinds(values.kinds?.split(','));
  const pace = quick ? QUICK_PACE : FULL_PACE;
  const result = await runFaults({ kinds, occurrences, seed, pace, signal: processSignal(), say });
  const report = reportOf(result, kinds, seed);
  await print(values.json ? JSON.stringify(report, undefined, 2) : renderMatrix(report));
  if (values['write-docs']) writeMatrix(report, { pace, command: commandLine() });
  for (const failure of report.failures) process.stderr.write(`${failure}\n`);
  return report.failures.length === 0;
}

async function withoutFaults(): Promise<boolean> {
  const report = await runFaultFree({ minutes, seed, signal: processSignal(), say });
  await print(JSON.stringify(report, undefined, 2));
  if (values['write-docs']) writeFaultFree(report);
  return isWithoutAlarms(report);
}

function print(text: string): Promise<unknown> {
  return new Promise((written) => process.stdout.write(`${text}\n`, written));
}

function commandLine(): string {
  const given = process.argv.slice(2).filter((arg) => arg !== '--write-docs' && arg !== '--quiet');
  return ['npm run faults', ...(given.length > 0 ? ['--', ...given] : [])].join(' ');
}
