import type { Bus, PartitionInfo } from '../bus/index.js';
import { compareAccounts } from './compare/accounts.js';
import { compareCandles } from './compare/candles.js';
import { compareChances } from './compare/chances.js';
import { compareCoverage, type Kill } from './compare/coverage.js';
import { compareFrames } from './compare/frames.js';
import { compareMissing } from './compare/missing.js';
import { comparePrices } from './compare/prices.js';
import { compareRawRecords } from './compare/raw-records.js';
import { compareResolutions } from './compare/resolutions.js';
import { compareVolumes } from './compare/volumes.js';
import { compareZeroSum } from './compare/zero-sum.js';
import type { Comparison } from './comparison.js';
import { compareFigures } from './figures/compare-figures.js';
import { timesOf } from './figures/input.js';
import { readFigures } from './figures/questions.js';
import { type Query, readAccounts, readCandles, readStreams, type StreamCoverage } from './recorded.js';
import type { Ledger, UsedFault } from './truth.js';

/** Periods of the candles that are compared. */
const CANDLE_SECONDS = [1, 60];

export interface CertifyInput {
  readonly ledger: Ledger;
  readonly faults: readonly UsedFault[];
  readonly kills: readonly Kill[];
  readonly query: Query;
  /** What the coverage files of a release say that is made now. */
  readonly released: StreamCoverage;
  readonly bus: Bus;
  /** The records of the bus that are compared: all of them have rows. */
  readonly partitions: readonly PartitionInfo[];
  /** When the collector was ready, Unix microseconds. */
  readonly recordedFrom: number;
  /** When trading had been closed; rows received before are all stored. Unix microseconds. */
  readonly closedAt: number;
  /** Whether what is outstanding now will not be compared again. */
  readonly isLast: boolean;
}

/** Comparisons of what the collector may detect or backfill a while later. */
const LATER = [
  'price changes',
  'chance of each second',
  'resolutions',
  'live chance points',
  'observed seconds',
  'seconds with lost changes',
  'times of resolutions',
  'profit by period',
  'equity curves',
  'account performance',
  'spreads and markouts',
  'slippage of own fills',
  'candles with volume',
  'time-weighted prices',
  'resampled prices',
  'chance candles',
  'spreads of a window',
  'volatility',
  'correlations of outcomes',
  'times of arbitrage',
  'price impact',
];

/** Ends the names of comparisons with the files of a release. */
const OF_RELEASE = ', release';

/** Whether a difference may be explained a while later. */
export const isOutstanding = (comparisons: readonly Comparison[]): boolean =>
  comparisons.some(({ name, unexplained }) => unexplained > 0 && LATER.includes(name.replace(OF_RELEASE, '')));

/**
 * Compares what ClickHouse has with the exchange's ledger, while nothing is traded. The views of figures follow from the rest and
 * take longest: they are asked when nothing is outstanding, or at last.
 */
export async function compareAll({
  ledger,
  faults,
  kills,
  query,
  released,
  bus,
  partitions,
  recordedFrom,
  closedAt,
  isLast,
}: CertifyInput): Promise<Comparison[]> {
  const streams = await readStreams(query);
  const accounts = await readAccounts(query);
  const openingChances = new Map(ledger.markets.map(({ marketId, openingChance }) => [marketId, openingChance]));
  const input = { prices: ledger.prices, openingChances, recorded: streams, faults, recordedFrom };
  const prices = comparePrices(input);
  const chances = compareChances(input);
  const candles: Comparison[] = [];
  for (const seconds of CANDLE_SECONDS) {
    candles.push(compareCandles(prices.shown, await readCandles(query, seconds), seconds, closedAt));
  }
  const sent = [
    { ...prices, stream: 'order-book', changes: ledger.prices },
    { ...chances, stream: 'chance' },
  ] as const;
  const coverage = { ...input, kills, streams: sent };
  const inRelease = { ...coverage, recorded: released };
  const comparisons = [
    ...prices.comparisons,
    ...candles,
    ...chances.comparisons,
    ...compareAccounts({ ledger, recorded: accounts }),
    ...compareVolumes(ledger, accounts),
    compareZeroSum(ledger, accounts),
    compareResolutions(ledger, accounts),
    ...compareCoverage(coverage),
    ...compareMissing(coverage),
    ...[...compareCoverage(inRelease), ...compareMissing(inRelease)].map((one) => ({
      ...one,
      name: `${one.name}${OF_RELEASE}`,
    })),
    await compareFrames(query, partitions),
    await compareRawRecords(bus, partitions, query),
  ];
  if (isOutstanding(comparisons) && !isLast) return comparisons;
  const figures = await readFigures(query, timesOf({ recordedFrom, closedAt }));
  const recording = {
    ledger,
    accounts,
    streams,
    shown: prices.shown,
    chances,
    figures,
    faults,
    recordedFrom,
    closedAt,
  };
  return [...comparisons, ...compareFigures(recording)];
}
