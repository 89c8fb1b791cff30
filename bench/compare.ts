import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError } from '../core/index.js';
import type { Bench, BenchFigure } from './bench.js';
import { runInProcess, withTemporaryFolder } from './benchmark-process.js';
import { median, show } from './results.js';

/** A figure over all runs of the former and of the new build. */
export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly former: readonly number[];
  readonly current: readonly number[];
  /** Whether the new median is worse than every former run; null for figures without a better direction. */
  readonly isWorse: boolean | null;
}

/**
 * Pairs the figures of two builds. A renamed figure is paired by its position if both builds have the same number of
 * figures.
 * @throws Error for a figure that the former build does not have
 */
export function compareRuns(
  former: readonly (readonly BenchFigure[])[],
  current: readonly (readonly BenchFigure[])[],
): Comparison[] {
  const figures = current[0] ?? [];
  const names = new Set(figures.map(({ name }) => name));
  return figures.map((figure, index) => {
    const { name, unit } = figure;
    const before = former.map((run) => {
      const atPosition = run.length === figures.length ? run[index] : undefined;
      const renamed = atPosition && !names.has(atPosition.name) ? atPosition : undefined;
      const found = run.find((other) => other.name === name) ?? renamed;
      if (found?.unit === unit) return found.value;
      throw new Error(`the former build has no figure ${JSON.stringify(name)} in ${unit}`);
    });
    const now = current.map((run) => run[index]?.value ?? Number.NaN);
    return { name, unit, former: before, current: now, isWorse: isWorse(figure, before, now) };
  });
}

function isWorse(figure: BenchFigure, former: readonly number[], current: readonly number[]): boolean | null {
  const { unit, better = unit.endsWith('/s') || unit === 'times' ? 'higher' : 'lower' } = figure;
  if (better === 'neither') return null;
  return better === 'higher' ? median(current) < Math.min(...former) : median(current) > Math.max(...former);
}

export interface CompareOptions {
  readonly benches: readonly Bench[];
  /** The `bench/main.js` of this checkout. */
  readonly program: string;
  /** Folder of another checkout, which has been built. */
  readonly former: string;
  readonly runs: number;
  readonly quick: boolean;
}

/**
 * Runs benchmarks of another checkout and of this one alternately, on this machine, and prints minimum, median and maximum
 * of every figure. Writes no files. After an interruption it prints the completed pairs of runs.
 * @returns the number of figures that became worse
 * @throws UsageError when the other checkout has not been built
 */
export async function compareWithFormer(options: CompareOptions, signal: AbortSignal): Promise<number> {
  const formerProgram = join(resolve(options.former), 'dist/bench/main.js');
  if (!existsSync(formerProgram))
    throw new UsageError(`${formerProgram} does not exist; run npm run build there first`);
  let worse = 0;
  for (const bench of options.benches) {
    if (signal.aborted) break;
    process.stdout.write(`\n${bench.name}: ${bench.about}\n`);
    const unavailable = bench.unavailable?.();
    if (unavailable !== undefined) {
      process.stdout.write(`  skipped: ${unavailable}\n`);
      continue;
    }
    const comparisons = await compare(bench, formerProgram, options, signal);
    worse += comparisons.filter((comparison) => comparison.isWorse).length;
    if (comparisons.length === 0) continue;
    for (const line of describeComparisons(comparisons)) process.stdout.write(`  ${line}\n`);
  }
  return worse;
}

async function compare(
  { name }: Bench,
  formerProgram: string,
  { program, runs, quick }: CompareOptions,
  signal: AbortSignal,
): Promise<Comparison[]> {
  const former: BenchFigure[][] = [];
  const current: BenchFigure[][] = [];
  const builds = [
    { title: 'former', program: formerProgram, figures: former },
    { title: 'new', program, figures: current },
  ];
  try {
    for (let run = 0; run < runs; run++) {
      // The order alternates, so that neither build always runs after the other one.
      for (const build of run % 2 === 0 ? builds : builds.toReversed()) {
        process.stderr.write(`  run ${run + 1} of ${runs}, ${build.title}\n`);
        await withTemporaryFolder(async () => {
          build.figures.push(await runInProcess({ program: build.program, name, quick }, signal));
        });
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const pairs = Math.min(former.length, current.length);
  if (signal.aborted) process.stdout.write(`  interrupted after ${pairs} of ${runs} pairs of runs\n`);
  return pairs === 0 ? [] : compareRuns(former.slice(0, pairs), current.slice(0, pairs));
}

/** A table: `former` and `new` as minimum / median / maximum, and whether the new median is worse. */
export function describeComparisons(comparisons: readonly Comparison[]): string[] {
  const rows = comparisons.map(({ name, unit, former, current, isWorse: worse }) => {
    const verdict = worse === null ? '' : worse ? 'WORSE' : 'ok';
    return [name, lowToHigh(former), lowToHigh(current), unit, verdict] as const;
  });
  const table = [['', 'former (min / median / max)', 'new (min / median / max)', '', ''] as const, ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function lowToHigh(values: readonly number[]): string {
  return [Math.min(...values), median(values), Math.max(...values)].map(show).join(' / ');
}
