/**
 * The panels that are empty in normal operation, by dashboard. All others have data two minutes after the first start. A
 * panel listed here explains in `noValue` what being empty means.
 */
export const MAY_BE_EMPTY: Readonly<Record<string, readonly string[]>> = {
  'chancery-pipeline-health': ['Dead letters by reason', 'Gaps', 'Seconds not observed', 'Incomplete polls'],
  'chancery-probability-quality': [
    'Reliability',
    'Parts of the Brier score',
    'Scores by time before the close',
    'Shares by price',
    "The exchange's candles and ours",
    'Arbitrage windows',
  ],
};

/** Views with completeness columns: a panel that queries one shows them. */
export const VIEWS_WITH_COMPLETENESS = /\b(?:chance_candles|candles|coverage_by_event)\b/;
/** Views of market data without completeness columns: a chart or table of one takes them from coverage_by_event. */
export const VIEWS_OF_MARKET_DATA = /\b(?:movers|event_overround|spread_stats)\b/;

/**
 * Panels whose queries have no column that says how complete they are, by dashboard; every other panel has one. They are about the
 * pipeline itself or single records, or stand beside a panel that says it.
 */
export const WITHOUT_COMPLETENESS: Readonly<Record<string, readonly string[]>> = {
  'chancery-event': ['All outcomes'],
  'chancery-market-overview': ['Price now', 'Chance now', 'Change in 24 h', 'Resolution'],
  'chancery-pipeline-health': [
    ...[
      'Delay, p99',
      'Live collectors',
      'Not observed now',
      'Dead letters',
      'Lost records',
      'Disk free',
      'Freshness per hop',
    ],
    ...[
      'Collectors',
      'Lag by topic',
      'Records per second',
      'Partitions now',
      'Lost changes, estimated',
      'Interval of audits',
    ],
    ...['Dead letters by reason', 'Rows by table'],
  ],
  'chancery-portfolio': ['Unexplained', 'Profit and loss by asset, USDC'],
  'chancery-probability-quality': [
    ...['Reliability', 'Parts of the Brier score', 'Shares by price', "The exchange's candles and ours"],
  ],
  'chancery-ticks': ['Ticks', 'Raw record'],
  'chancery-volume': ['Volume by category'],
};
