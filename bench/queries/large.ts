import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, UsageError } from '../../core/index.js';
import { readViews, sqlFolder } from '../../warehouse/index.js';
import { machine } from '../measure.js';
import { type QuestionResult, readResults, writeResults } from '../results.js';
import { askAll, HEAD_LINE } from './ask.js';
import { openDataSet } from './data-set.js';
import { LARGE_QUERIES_ABOUT, LARGE_QUERIES_BENCH } from './description.js';
import { type Question, questionsAt } from './questions.js';
import { ASSETS_PER_ACCOUNT, DAYS, type DataSetSize, EVENTS, MARKETS_PER_EVENT, SEED, sizeOf } from './size.js';

const BASE_TICKS = 100_000_000;
/** Number of trades in the larger data set: 100,000 of each of its four accounts. */
const TRADES = 400_000;
const SLOWEST = 5;
const RUNS = 20;
/** A tick takes less, with what is merged meanwhile. */
const BYTES_PER_TICK = 25;

const ACCOUNT = "account = 'account-1'";
/** First in, first out of an account with 100,000 trades, from the trades, and with what a worker has computed. */
const FIFO: readonly Question[] = [
  {
    name: 'position_costs, one account, 100,000 trades',
    // One period that is no whole number of days, so that it is computed from the trades.
    sql: `SELECT * FROM position_costs(period_seconds = 2000000000) WHERE ${ACCOUNT}`,
  },
  { name: 'holdings, one account, 100,000 trades', sql: `SELECT * FROM holdings WHERE ${ACCOUNT}` },
];

/** Asks the slowest questions on both data sets. A question of the larger one has its number of ticks in its name. */
export async function benchLargeQueries(ticks: number, signal: AbortSignal): Promise<void> {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  print(`\n${LARGE_QUERIES_BENCH}: ${LARGE_QUERIES_ABOUT}`);
  assertFreeDisk(ticks);
  const slowest = slowestQuestions();
  const small = sizeOf(BASE_TICKS);
  const large = { ...small, ticks, trades: TRADES };
  const base = await ask(small, (all) => ofNames(all, [...slowest, 'pnl_by_account, all accounts']), print, signal);
  const more = await ask(
    large,
    (all) => [
      ...ofNames(all, slowest).map((one) => ({ ...one, name: `${one.name}; ${ticks / 1e6} million ticks` })),
      ...FIFO,
    ],
    print,
    signal,
  );
  if (signal.aborted) return;
  const settings = {
    ...small,
    largerTicks: ticks,
    trades: small.trades,
    tradesWithLargerTicks: TRADES,
    assetsOfAnAccount: ASSETS_PER_ACCOUNT,
    events: EVENTS,
    markets: EVENTS * MARKETS_PER_EVENT,
    days: DAYS,
    seed: SEED,
    runs: RUNS,
    ...machine(),
  };
  if (base.failed || more.failed) print('  nothing is written');
  else
    writeResults({
      bench: LARGE_QUERIES_BENCH,
      about: LARGE_QUERIES_ABOUT,
      settings,
      questions: [...base.questions, ...more.questions],
    });
}

async function ask(
  size: DataSetSize,
  choose: (all: readonly Question[]) => Question[],
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<{ readonly questions: readonly QuestionResult[]; readonly failed: boolean }> {
  if (signal.aborted) return { questions: [], failed: false };
  print(`\n  ${size.ticks.toLocaleString('en-US')} ticks`);
  const dataSet = await openDataSet(size, print);
  print(HEAD_LINE);
  return dataSet.asking((reader) => askAll(choose(questionsAt(dataSet.endsAt)), { reader, runs: RUNS, print }, signal));
}

/** The names of the questions about ticks with the largest p50 in bench/results/. */
function slowestQuestions(): string[] {
  const results = readResults().find(({ bench }) => bench === 'queries');
  if (!results || !('questions' in results)) throw new UsageError('run `npm run bench -- queries` first');
  const sources = sourcesOfTicks();
  return results.questions
    .filter(({ sql }) => namesAfterFrom(sql).some((name) => sources.has(name)))
    .toSorted((a, b) => b.p50Ms - a.p50Ms)
    .slice(0, SLOWEST)
    .map(({ name }) => name);
}

const namesAfterFrom = (sql: string): string[] => [...sql.matchAll(/\bFROM (\w+)/g)].map(([, name = '']) => name);

/** The tables of ticks and of what is aggregated of them, and the views that read one: more ticks are more work for them. */
export function sourcesOfTicks(): ReadonlySet<string> {
  const sources = new Set(['price_ticks', 'price_hours', 'price_days']);
  // A view comes after those that it reads.
  for (const { name, text } of readViews(sqlFolder())) {
    if ([...text.matchAll(/\{database\}\.(\w+)/g)].some(([, read = '']) => read !== name && sources.has(read)))
      sources.add(name);
  }
  return sources;
}

const ofNames = (questions: readonly Question[], names: readonly string[]): Question[] =>
  questions.filter(({ name }) => names.includes(name));

function assertFreeDisk(ticks: number): void {
  const folder = join(packageRoot(), '.cache');
  mkdirSync(folder, { recursive: true });
  const { bavail, bsize } = statfsSync(folder);
  const needed = ticks * BYTES_PER_TICK;
  if (bavail * bsize > needed) return;
  const gigabytes = (bytes: number) => Math.ceil(bytes / 1e9);
  throw new UsageError(
    `${folder} has ${gigabytes(bavail * bsize)} GB of free disk; ${ticks / 1e6} million ticks need up to ${gigabytes(needed)} GB: free some, or give a smaller --ticks`,
  );
}
