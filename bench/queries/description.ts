/** The number of ticks of published results. */
export const FULL_TICKS = 100_000_000;
export const QUERIES_BENCH = 'queries';
export const QUERIES_ABOUT =
  'questions of dashboards and people to the views, as the user reader, over 30 days of records';

/** The number of ticks of published results. */
export const LARGE_TICKS = 1_000_000_000;
export const LARGE_QUERIES_BENCH = 'queries-large';
export const LARGE_QUERIES_ABOUT =
  'the five slowest questions of queries that read ticks, on 100 million ticks and on more, and profit and loss of accounts with many trades';
