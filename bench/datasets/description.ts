/** The number of ticks of published results. */
export const FULL_DATASET_TICKS = 50_000_000;
export const QUICK_DATASET_TICKS = 2_000_000;
export const DATASETS_BENCH = 'datasets';
export const DATASETS_ABOUT =
  'order book ticks of five days, and the raw records of the last one: export, release, verify and import with the commands, each timed from its start to its end';
