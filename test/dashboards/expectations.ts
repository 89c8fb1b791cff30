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
