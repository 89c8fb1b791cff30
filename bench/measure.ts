import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Bench, BenchFigure } from './bench.js';
import { runInProcess, withTemporaryFolder } from './benchmark-process.js';
import { type BenchResults, describeSettings, median, type Result, show, spreadOf, writeResults } from './results.js';

const RUNS = 5;

/**
 * Runs a benchmark 5 times or as often as it says, prints the medians and writes them to bench/results/. After an interruption, the completed
 * runs are printed and nothing is written.
 */
export async function measure(bench: Bench, program: string, quick: boolean, signal: AbortSignal): Promise<void> {
  process.stdout.write(`\n${bench.name}: ${bench.about}\n`);
  const unavailable = bench.unavailable?.();
  if (unavailable !== undefined) {
    process.stdout.write(`  skipped: ${unavailable}\n`);
    return;
  }
  const runs: BenchFigure[][] = [];
  const planned = quick ? 1 : (bench.runs ?? RUNS);
  try {
    await withTemporaryFolder(async () => {
      while (runs.length < planned) {
        if (planned > 1) process.stderr.write(`  run ${runs.length + 1} of ${planned}\n`);
        runs.push(await runInProcess({ program, name: bench.name, quick }, signal));
      }
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    process.stdout.write(`  interrupted after ${runs.length} of ${planned} runs; nothing is written\n`);
  }
  if (runs.length === 0) return;
  const results = resultsOf(runs);
  const settings = { ...(await bench.load()).settings, ...(quick ? { quick } : {}), runs: runs.length, ...machine() };
  print(results, settings);
  if (!quick && !signal.aborted) writeResults({ bench: bench.name, about: bench.about, settings, results });
}

function resultsOf(all: readonly BenchFigure[][]): Result[] {
  return (all[0] ?? []).map(({ name, unit }): Result => {
    const runs = all.flatMap((figures) => figures.filter((f) => f.name === name).map((f) => f.value));
    return { name, unit, median: median(runs), runs };
  });
}

export function machine() {
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
  process.stdout.write(`  settings: ${describeSettings(settings)}\n`);
}
