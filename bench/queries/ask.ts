import type { ClickHouseEndpoint } from '../../warehouse/index.js';
import { quantile } from '../quantile.js';
import { figuresOf, median, type QuestionResult } from '../results.js';
import type { Question } from './questions.js';

const WARM_UP_RUNS = 3;
const NAME_WIDTH = 57;
const FIGURE_WIDTH = 14;

interface AskOptions {
  readonly reader: ClickHouseEndpoint;
  /** Measured runs of each question. */
  readonly runs: number;
  readonly print: (line: string) => void;
}

/** Names the figures of the lines below it. */
export const HEAD_LINE =
  ' '.repeat(NAME_WIDTH) +
  ['p50', 'p95', 'rows read', 'read', 'memory', 'result'].map((name) => name.padStart(FIGURE_WIDTH)).join('');

/**
 * Asks every question 3 times to warm up and `runs` times measured, and prints its figures. A question that fails is printed with its
 * error and has no figures.
 */
export async function askAll(
  questions: readonly Question[],
  { reader, runs, print }: AskOptions,
  signal: AbortSignal,
): Promise<{ readonly questions: readonly QuestionResult[]; readonly failed: boolean }> {
  const results: QuestionResult[] = [];
  let failed = false;
  for (const question of questions) {
    if (signal.aborted) break;
    try {
      const result = await measureQuestion(question, reader, runs);
      results.push(result);
      const figures = figuresOf(result).map((figure) => figure.padStart(FIGURE_WIDTH));
      print(`  ${question.name.padEnd(NAME_WIDTH - 2)}${figures.join('')}`);
    } catch (error) {
      failed = true;
      print(`  ${question.name}: ${String(error)}`);
    }
  }
  return { questions: results, failed };
}

async function measureQuestion(question: Question, reader: ClickHouseEndpoint, runs: number): Promise<QuestionResult> {
  const asked: Asked[] = [];
  for (let run = 0; run < WARM_UP_RUNS; run++) await ask(reader, question.sql);
  for (let run = 0; run < runs; run++) asked.push(await ask(reader, question.sql));
  const times = asked.map(({ ms }) => ms);
  const middle = (pick: (one: Asked) => number) => Math.round(median(asked.map(pick)));
  return {
    name: question.name,
    sql: question.sql,
    p50Ms: Math.round(quantile(times, 0.5)),
    p95Ms: Math.round(quantile(times, 0.95)),
    rowsRead: middle(({ rowsRead }) => rowsRead),
    bytesRead: middle(({ bytesRead }) => bytesRead),
    memoryBytes: Math.max(...asked.map(({ memory }) => memory)),
    resultRows: middle(({ resultRows }) => resultRows),
  };
}

interface Asked {
  readonly ms: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly memory: number;
  readonly resultRows: number;
}

/** Until the last byte of the result has been received. */
async function ask({ url, user, password }: ClickHouseEndpoint, sql: string): Promise<Asked> {
  const started = performance.now();
  const response = await fetch(`${url}/?database=chancery&wait_end_of_query=1&default_format=Native`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password.reveal() },
    body: sql,
  });
  const body = await response.arrayBuffer();
  const ms = performance.now() - started;
  if (!response.ok) throw new Error(Buffer.from(body).toString().slice(0, 300));
  const summary = JSON.parse(response.headers.get('x-clickhouse-summary') ?? '{}') as Record<string, string>;
  const number = (name: string) => Number(summary[name] ?? 0);
  return {
    ms,
    rowsRead: number('read_rows'),
    bytesRead: number('read_bytes'),
    memory: number('memory_usage'),
    resultRows: number('result_rows'),
  };
}
