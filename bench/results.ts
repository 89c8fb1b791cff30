import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../core/index.js';

const FOLDER = join(packageRoot(), 'bench/results');

/** One figure of a benchmark over its runs. */
export interface Result {
  readonly name: string;
  readonly unit: string;
  readonly median: number;
  readonly runs: readonly number[];
}

/** The results of a benchmark and its settings. */
export interface BenchResults {
  readonly bench: string;
  readonly about: string;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  readonly results: readonly Result[];
}

export function writeResults(results: BenchResults): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${results.bench}.json`), `${JSON.stringify(results, undefined, 2)}\n`);
}

/** The latest results of every benchmark, by name. */
export function readResults(): BenchResults[] {
  const files = readdirSync(FOLDER).toSorted();
  return files.map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as BenchResults);
}

/** The text of `docs/performance.md`. */
export function renderResults(all: readonly BenchResults[]): string {
  const sections = all.map(({ bench, about, settings, results }) => {
    const rows = results.map(
      (result) => `| ${result.name} | ${show(result.median)} ${result.unit} | ${spreadOf(result)} |`,
    );
    const table = ['| figure | median | min to max |', '| --- | ---: | --- |', ...rows].join('\n');
    return `## ${bench}\n\n${about[0]?.toUpperCase()}${about.slice(1)}.\n\n${table}\n\nSettings: ${describeSettings(settings)}.\n`;
  });
  return `${HEAD}\n${sections.join('\n')}`;
}

const HEAD = `# Performance

Generated from [bench/results/](../bench/results) by \`npx vitest run test/bench --update\`. \`npm run bench -- NAME\` measures
again and overwrites the results of NAME; \`npm run bench -- compare\` compares this checkout with another one.

All processes of a measurement, including the simulated exchange and the Kafka broker, ran on one machine. Its processor
and memory are listed with each result, with the settings of the benchmark.
`;

export function spreadOf({ runs }: Result): string {
  return `${show(Math.min(...runs))} to ${show(Math.max(...runs))}`;
}

export function describeSettings(settings: BenchResults['settings']): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${String(value)}`)
    .join(', ');
}

export function show(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

/** The middle value, or the mean of the two middle ones; 0 for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
