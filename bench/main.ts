import { spawn } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Command, Option } from 'commander';
import type { Bench, BenchFigure } from './bench.js';
import { BENCHES } from './benches.js';
import { type BenchResults, describeSettings, type Result, show, spreadOf, writeResults } from './results.js';

const RUNS = 5;

const program = new Command('npm run bench --')
  .argument('[names...]', 'what to measure; without any, everything')
  .option('--quick', 'one short run each, which shows that it works, not how fast it is; nothing is written')
  .addOption(new Option('--once', 'one run in this process, as JSON').hideHelp())
  .addHelpText('after', `\n${BENCHES.map(({ name, about }) => `  ${name.padEnd(16)} ${about}`).join('\n')}`)
  .parse();
const { quick = false, once = false } = program.opts<{ quick?: boolean; once?: boolean }>();

if (once) {
  const figures = await find(program.args[0] ?? '').run(quick);
  process.stdout.write(JSON.stringify(figures));
} else {
  const chosen = program.args.length > 0 ? program.args.map(find) : BENCHES;
  for (const bench of chosen) await measure(bench, quick);
}

function find(name: string): Bench {
  const bench = BENCHES.find((b) => b.name === name);
  if (bench) return bench;
  return program.error(`no benchmark ${name}; there are: ${BENCHES.map((b) => b.name).join(', ')}`, { exitCode: 2 });
}

/** Runs a benchmark several times, prints the medians and writes them to bench/results/. */
async function measure(bench: Bench, quick: boolean): Promise<void> {
  process.stdout.write(`\n${bench.name}: ${bench.about}\n`);
  const why = bench.unavailable?.();
  if (why !== undefined) {
    process.stdout.write(`  left out: ${why}\n`);
    return;
  }
  const all: BenchFigure[][] = [];
  for (let run = 0; run < (quick ? 1 : RUNS); run++) all.push(await runOnce(bench.name, quick));
  const results = (all[0] ?? []).map(({ name, unit }): Result => {
    const runs = all.flatMap((figures) => figures.filter((f) => f.name === name).map((f) => f.value));
    return { name, unit, median: median(runs), runs };
  });
  const settings = { ...bench.settings, ...(quick ? { quick } : {}), runs: all.length, ...machine() };
  print(results, settings);
  if (quick) return;
  writeResults({ bench: bench.name, about: bench.about, settings, results });
}

async function runOnce(name: string, quick: boolean): Promise<BenchFigure[]> {
  const args = [fileURLToPath(import.meta.url), '--once', name, ...(quick ? ['--quick'] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const output = await text(child.stdout);
  if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode !== 0) throw new Error(`${name} failed with exit code ${child.exitCode}`);
  return JSON.parse(output) as BenchFigure[];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function machine() {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
  };
}

function print(results: readonly Result[], settings: BenchResults['settings']): void {
  const width = Math.max(...results.map((r) => r.name.length));
  for (const result of results) {
    const spread = result.runs.length > 1 ? `   (${spreadOf(result)})` : '';
    process.stdout.write(
      `  ${result.name.padEnd(width)}  ${show(result.median).padStart(12)} ${result.unit}${spread}\n`,
    );
  }
  process.stdout.write(`  with: ${describeSettings(settings)}\n`);
}
