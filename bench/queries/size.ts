/** The size of the data set of `npm run bench -- queries`. */
export interface DataSetSize {
  readonly ticks: number;
  readonly chancePoints: number;
  readonly activity: number;
  readonly trades: number;
}

export const SEED = 1;
/** Identity of the log, and partitions of the order book topic. */
export const LOG = 'log';
export const PARTITIONS = 4;
export const DAYS = 30;
export const EVENTS = 200;
export const MARKETS_PER_EVENT = 10;
/** Events with 16 times the ticks of the others. */
export const HOT_EVENTS = 20;
export const HOT_FACTOR = 16;
export const ACCOUNTS = 4;
export const ASSETS_PER_ACCOUNT = 200;
/** Seconds at the end of every hour in which nothing is observed. */
export const GAP_SECONDS = 60;
/** The schedule of accounts and of event search. */
export const POLL_SECONDS = 10;
/** The schedule of chance history. */
export const HISTORY_SECONDS = 600;

export const sizeOf = (ticks: number): DataSetSize => ({
  ticks,
  chancePoints: ticks / 10,
  activity: ticks / 20,
  trades: ticks / 100,
});
