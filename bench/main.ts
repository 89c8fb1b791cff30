import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
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
  .addOption(new Option('--keep', 'with --once: whoever named TMPDIR removes it').hideHelp())
  .addHelpText('after', `\n${BENCHES.map(({ name, about }) => `  ${name.padEnd(16)} ${about}`).join('\n')}`)
  .parse();
const options = program.opts<{ quick?: boolean; once?: boolean; keep?: boolean }>();
const { quick = false } = options;

if (options.once) {
  const bench = find(program.args[0] ?? '');
  const run = async () => process.stdout.write(JSON.stringify(await bench.run(quick)));
  await (options.keep ? run() : withTemporaryFolder(run));
} else {
  const chosen = program.args.length > 0 ? program.args.map(find) : BENCHES;
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupted.abort());
  for (const bench of chosen) await measure(bench, quick, interrupted.signal);
}

function find(name: string): Bench {
  const bench = BENCHES.find((b) => b.name === name);
  if (bench) return bench;
  return program.error(`no benchmark ${name}; there are: ${BENCHES.map((b) => b.name).join(', ')}`, { exitCode: 2 });
}

/** Runs a benchmark several times, prints the medians and writes them to bench/results/. */
async function measure(bench: Bench, quick: boolean, signal: AbortSignal): Promise<void> {
  process.stdout.write(`\n${bench.name}: ${bench.about}\n`);
  const why = bench.unavailable?.();
  if (why !== undefined) {
    process.stdout.write(`  left out: ${why}\n`);
    return;
  }
  const all: BenchFigure[][] = [];
  await withTemporaryFolder(async () => {
    for (let run = 0; run < (quick ? 1 : RUNS); run++) all.push(await runOnce(bench.name, quick, signal));
  });
  const results = (all[0] ?? []).map(({ name, unit }): Result => {
    const runs = all.flatMap((figures) => figures.filter((f) => f.name === name).map((f) => f.value));
    return { name, unit, median: median(runs), runs };
  });
  const settings = { ...bench.settings, ...(quick ? { quick } : {}), runs: all.length, ...machine() };
  print(results, settings);
  if (quick) return;
  writeResults({ bench: bench.name, about: bench.about, settings, results });
}

/** Runs it with a fresh folder for temporary files, also those of its processes, and removes that with all that is left. */
async function withTemporaryFolder(run: () => Promise<unknown>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'chancery-bench-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    await run();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    // A server whose benchmark was interrupted needs seconds to end.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function runOnce(name: string, quick: boolean, signal: AbortSignal): Promise<BenchFigure[]> {
  signal.throwIfAborted();
  const args = [fileURLToPath(import.meta.url), '--once', '--keep', name, ...(quick ? ['--quick'] : [])];
  // A process group of its own, so that what it started ends with it when this process is asked to end.
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const exited = once(child, 'exit');
  const kill = () => void (child.pid && process.kill(-child.pid, 'SIGKILL'));
  signal.addEventListener('abort', kill);
  try {
    const output = await text(child.stdout);
    const [code, killedBy] = await exited;
    if (code !== 0)
      throw new Error(`${name} ${killedBy ? `was ended by ${killedBy}` : `failed with exit code ${code}`}`);
    return JSON.parse(output) as BenchFigure[];
  } finally {
    signal.removeEventListener('abort', kill);
  }
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
