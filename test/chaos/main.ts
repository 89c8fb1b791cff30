import { parseArgs } from 'node:util';
import { processSignal, Stopped } from '../../core/index.js';
import { isUnharmed, killDatasets, renderKills } from './dataset-kills.js';
import { isClean, renderFaults, renderReport } from './report.js';
import { runChaos } from './run.js';

const HELP = `npm run chaos -- [--bus kafka|embedded] [--minutes M] [--seed S] [--kills N] [--quiet]
npm run chaos -- --datasets [--seed S] [--kills N] [--quiet]

Kills, pauses and cuts everything that can be for M minutes (or until N processes were killed), then compares what is
in ClickHouse with what was on the bus. Ends with 1 when a row is missing or duplicate.

With --datasets: kills N exports and N imports of a release (default: 100) at random moments, and repeats them. Ends with 1
when a file or a table is not the same in the end.`;

const { values } = parseArgs({
  options: {
    bus: { type: 'string', default: 'kafka' },
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string' },
    kills: { type: 'string' },
    datasets: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const { bus } = values;
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (values.help || (bus !== 'kafka' && bus !== 'embedded') || !(minutes > 0) || !Number.isInteger(seed)) {
  process.stdout.write(`${HELP}\n`);
  process.exit(values.help ? 0 : 2);
}

const startedAt = performance.now();
const say = (line: string) => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(7);
  if (!values.quiet) process.stderr.write(`${seconds} s  ${line}\n`);
};
try {
  if (values.datasets) {
    const kills = Number(values.kills ?? 100);
    const reports = await killDatasets({ kills, seed, say });
    await new Promise((written) => process.stdout.write(`${renderKills(reports, kills, seed)}\n`, written));
    process.exit(isUnharmed(reports) ? 0 : 1);
  }
  const kills = values.kills === undefined ? {} : { kills: Number(values.kills) };
  const report = await runChaos({ bus, minutes, seed, ...kills, hugeFrames: true, signal: processSignal(), say });
  await new Promise((written) => process.stdout.write(`${renderReport(report)}\n`, written));
  const clean = isClean(report);
  const faults = renderFaults(report);
  if (faults !== '') process.stderr.write(`\n${faults}\n`);
  // Everything is reported: open handles must not delay the exit.
  process.exit(clean ? 0 : 1);
} catch (error) {
  if (!(error instanceof Stopped)) throw error;
  process.exitCode = 130;
}
