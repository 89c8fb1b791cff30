import { fileURLToPath } from 'node:url';
import { Command, Option } from 'commander';
import { describeError, UsageError } from '../core/index.js';
import type { Bench } from './bench.js';
import { BENCHES } from './benches.js';
import { withTemporaryFolder } from './benchmark-process.js';
import { compareWithFormer } from './compare.js';
import { DATASETS_ABOUT, DATASETS_BENCH, FULL_DATASET_TICKS, QUICK_DATASET_TICKS } from './datasets/description.js';
import { measure } from './measure.js';
import {
  FULL_TICKS,
  LARGE_QUERIES_ABOUT,
  LARGE_QUERIES_BENCH,
  LARGE_TICKS,
  QUERIES_ABOUT,
  QUERIES_BENCH,
} from './queries/description.js';

const PROGRAM = fileURLToPath(import.meta.url);
/** The exit code of a shell for a command ended by Ctrl-C. */
const EXIT_INTERRUPTED = 130;

const program = new Command('npm run bench --')
  .enablePositionalOptions()
  .argument('[names...]', 'benchmarks to run; all of them by default')
  .option(
    '--quick',
    'run each once and briefly to check that it works; the figures are not measurements and are not written',
  )
  .addOption(new Option('--once', 'one run in this process, as JSON').hideHelp())
  .addOption(new Option('--keep', 'with --once: the caller deletes TMPDIR').hideHelp())
  .addHelpText(
    'after',
    `\nBenchmarks:\n${BENCHES.map(({ name, about }) => `  ${name.padEnd(16)} ${about}`).join('\n')}`,
  )
  .action(async (names: string[], options: { quick?: boolean; once?: boolean; keep?: boolean }) => {
    const { quick = false, once = false, keep = false } = options;
    if (once) {
      await runHere(find(names[0] ?? ''), quick, keep);
      return;
    }
    const chosen = names.length > 0 ? names.map(find) : BENCHES;
    await interruptible(async (signal) => {
      for (const bench of chosen) if (!signal.aborted) await measure(bench, PROGRAM, quick, signal);
    });
  });

program
  .command('compare')
  .description(
    'run benchmarks of another checkout and of this one alternately; exit code 1 when a new median is worse than every former run',
  )
  .argument('<names>', 'benchmarks, separated by commas')
  .requiredOption('--former <dir>', 'folder of the other checkout, built with npm run build')
  .addOption(new Option('--runs <n>', 'runs of each').default(5).argParser(positiveInteger))
  .option('--quick', 'run each briefly to check that it works; the figures are not measurements')
  .action(async (names: string, { former, runs, quick = false }: { former: string; runs: number; quick?: boolean }) => {
    const benches = names.split(',').map(find);
    await interruptible(async (signal) => {
      const worse = await compareWithFormer({ benches, program: PROGRAM, former, runs, quick }, signal);
      if (worse > 0) process.exitCode = 1;
    });
  });

program
  .command(QUERIES_BENCH)
  .description(`${QUERIES_ABOUT}; the data set is built once, in .cache/`)
  .addOption(
    new Option('--ticks <millions>', 'size of the data set; other sizes than the default are not written')
      .default(FULL_TICKS / 1e6)
      .argParser(positiveInteger),
  )
  .option('--only <text>', 'ask the questions whose names contain this text; nothing is written')
  .addOption(new Option('--runs <n>', 'measured runs of each question').argParser(positiveInteger))
  .action(async ({ ticks, ...options }: { ticks: number; only?: string; runs?: number }) => {
    const { benchQueries } = await import('./queries/index.js');
    await interruptible((signal) => benchQueries(ticks * 1e6, options, signal));
  });

program
  .command(LARGE_QUERIES_BENCH)
  .description(`${LARGE_QUERIES_ABOUT}; the data sets are built once, in .cache/, which takes an hour or more`)
  .addOption(
    new Option('--ticks <millions>', 'size of the larger data set')
      .default(LARGE_TICKS / 1e6)
      .argParser(positiveInteger),
  )
  .action(async ({ ticks }: { ticks: number }) => {
    const { benchLargeQueries } = await import('./queries/index.js');
    await interruptible((signal) => benchLargeQueries(ticks * 1e6, signal));
  });

program
  .command(DATASETS_BENCH)
  .description(`${DATASETS_ABOUT}; the instance is built once, in .cache/`)
  .addOption(
    new Option('--ticks <millions>', 'number of ticks; other numbers than the default are not written')
      .default(FULL_DATASET_TICKS / 1e6)
      .argParser(positiveInteger),
  )
  .option('--quick', 'a small data set, to check that it works; nothing is written')
  .action(async ({ ticks, quick = false }: { ticks: number; quick?: boolean }) => {
    const { benchDatasets } = await import('./datasets/index.js');
    await interruptible((signal) => benchDatasets(quick ? QUICK_DATASET_TICKS : ticks * 1e6, signal));
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`error: ${describeError(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

function find(name: string): Bench {
  const bench = BENCHES.find((b) => b.name === name);
  if (bench) return bench;
  throw new UsageError(
    `there is no benchmark ${JSON.stringify(name)}; there are ${BENCHES.map((b) => b.name).join(', ')}`,
  );
}

function positiveInteger(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(`${JSON.stringify(text)} is not a whole number from 1 to 9999`);
}

async function runHere(bench: Bench, quick: boolean, keep: boolean): Promise<void> {
  const loaded = await bench.load();
  const run = async () => void process.stdout.write(JSON.stringify(await loaded.run(quick)));
  await (keep ? run() : withTemporaryFolder(run));
}

/** Calls `run` with a signal that is aborted by Ctrl-C. */
async function interruptible(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => interrupted.abort());
  await run(interrupted.signal);
  if (interrupted.signal.aborted) process.exitCode = EXIT_INTERRUPTED;
}
