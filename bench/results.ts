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

/** A question of `npm run bench -- queries`. */
export interface QuestionResult {
  readonly name: string;
  readonly sql: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
  /** The highest of all runs. */
  readonly memoryBytes: number;
  readonly resultRows: number;
}

/** The results of `npm run bench -- queries`. */
export interface QueryResults extends Omit<BenchResults, 'results'> {
  readonly questions: readonly QuestionResult[];
}

export function writeResults(results: BenchResults | QueryResults): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${results.bench}.json`), `${JSON.stringify(results, undefined, 2)}\n`);
}

/** The latest results of every benchmark, by name. */
export function readResults(): (BenchResults | QueryResults)[] {
  const files = readdirSync(FOLDER).toSorted();
  return files.map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as BenchResults | QueryResults);
}

/** The text of `docs/performance.md`. */
export function renderResults(all: readonly (BenchResults | QueryResults)[]): string {
  const sections = all.map((one) => {
    const { bench, about, settings } = one;
    const table = 'questions' in one ? questionTable(one.questions) : figureTable(one.results);
    return `## ${bench}\n\n${about[0]?.toUpperCase()}${about.slice(1)}.\n\n${table}\n\nSettings: ${describeSettings(settings)}.\n`;
  });
  return `${HEAD}\n${sections.join('\n')}`;
}

function figureTable(results: readonly Result[]): string {
  const rows = results.map(
    (result) => `| ${result.name} | ${show(result.median)} ${result.unit} | ${spreadOf(result)} |`,
  );
  return ['| figure | median | min to max |', '| --- | ---: | --- |', ...rows].join('\n');
}

function questionTable(questions: readonly QuestionResult[]): string {
  const rows = questions.map((question) => `| ${[question.name, ...figuresOf(question)].join(' | ')} |`);
  const head = '| question | p50 | p95 | rows read | read | memory | rows of the result |';
  return [head, '| --- | ---: | ---: | ---: | ---: | ---: | ---: |', ...rows].join('\n');
}

/** p50, p95, rows and bytes read, memory and rows of the result of a question, as text. */
export function figuresOf(question: QuestionResult): string[] {
  const megabytes = (bytes: number) => `${show(Math.round(bytes / 1e5) / 10)} MB`;
  const { p50Ms, p95Ms, rowsRead, bytesRead, memoryBytes, resultRows } = question;
  const times = [`${show(p50Ms)} ms`, `${show(p95Ms)} ms`];
  return [...times, show(rowsRead), megabytes(bytesRead), megabytes(memoryBytes), show(resultRows)];
}

const HEAD = `# Performance

Generated from [bench/results/](../bench/results) by \`npx vitest run test/bench --update\`. \`npm run bench -- NAME\` measures
again and overwrites the results of NAME; \`npm run bench -- compare\` compares this checkout with another one.

All processes of a measurement, including the simulated exchange and the Kafka broker, ran on one machine. Its processor
and memory are listed with each result, with the settings of the benchmark. The results are of different days, on
which the machine was not equally fast: compare figures of one result only, or run \`compare\`.
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
