import type { ClickHouseEndpoint } from '../../warehouse/index.js';
import { machine } from '../measure.js';
import { quantile } from '../quantile.js';
import { figuresOf, median, type QuestionResult, writeResults } from '../results.js';
import { openDataSet } from './data-set.js';
import { type Question, questionsAt } from './questions.js';
import { ACCOUNTS, DAYS, EVENTS, MARKETS_PER_EVENT, SEED, sizeOf } from './size.js';

/** The number of ticks of published results. */
export const FULL_TICKS = 100_000_000;
export const QUERIES_BENCH = 'queries';
export const QUERIES_ABOUT = 'queries that dashboards send to the views, as the user reader, over 30 days of records';
const WARM_UP_RUNS = 3;
const RUNS = 20;

/**
 * Asks every question 3 times to warm up and 20 times measured, prints the figures and writes them to bench/results/.
 * A question that fails is printed with its error and has no figures.
 */
export async function benchQueries(
  ticks: number,
  { only, runs = RUNS }: { readonly only?: string | undefined; readonly runs?: number },
  signal: AbortSignal,
): Promise<void> {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  print(`\n${QUERIES_BENCH}: ${QUERIES_ABOUT}`);
  print(
    ' '.repeat(57) + ['p50', 'p95', 'rows read', 'read', 'memory', 'result'].map((name) => name.padStart(14)).join(''),
  );
  const size = sizeOf(ticks);
  const dataSet = await openDataSet(size, print);
  const questions: QuestionResult[] = [];
  let failed = false;
  try {
    const chosen = questionsAt(dataSet.endsAt).filter(({ name }) => only === undefined || name.includes(only));
    for (const question of chosen) {
      if (signal.aborted) return;
      try {
        const result = await measureQuestion(question, dataSet.reader, runs);
        questions.push(result);
        print(
          `  ${question.name.padEnd(55)}${figuresOf(result)
            .map((figure) => figure.padStart(14))
            .join('')}`,
        );
      } catch (error) {
        failed = true;
        print(`  ${question.name}: ${String(error)}`);
      }
    }
  } finally {
    await dataSet.close();
  }
  const settings = {
    ...size,
    events: EVENTS,
    markets: EVENTS * MARKETS_PER_EVENT,
    days: DAYS,
    accounts: ACCOUNTS,
    listedEvery: '1 h',
    positionsListedEvery: '1 h',
    seed: SEED,
    runs,
    ...machine(),
  };
  if (failed || only !== undefined || runs !== RUNS || ticks !== FULL_TICKS) print('  nothing is written');
  else writeResults({ bench: QUERIES_BENCH, about: QUERIES_ABOUT, settings, questions });
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
