import { machine } from '../measure.js';
import { writeResults } from '../results.js';
import { askAll, HEAD_LINE } from './ask.js';
import { openDataSet } from './data-set.js';
import { FULL_TICKS, QUERIES_ABOUT, QUERIES_BENCH } from './description.js';
import { questionsAt } from './questions.js';
import { ACCOUNTS, DAYS, EVENTS, MARKETS_PER_EVENT, SEED, sizeOf } from './size.js';

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
  print(HEAD_LINE);
  const size = sizeOf(ticks);
  const dataSet = await openDataSet(size, print);
  const asked = await dataSet.asking((reader) => {
    const chosen = questionsAt(dataSet.endsAt).filter(({ name }) => only === undefined || name.includes(only));
    return askAll(chosen, { reader, runs, print }, signal);
  });
  if (signal.aborted) return;
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
  if (asked.failed || only !== undefined || runs !== RUNS || ticks !== FULL_TICKS) print('  nothing is written');
  else writeResults({ bench: QUERIES_BENCH, about: QUERIES_ABOUT, settings, questions: asked.questions });
}

export { benchLargeQueries } from './large.js';
