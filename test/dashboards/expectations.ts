/**
 * The panels that show nothing while all is well, by dashboard. Every other one has something to show two minutes after
 * the first start. A panel named here says in words (`noValue`) what its being empty means.
 */
export const MAY_BE_EMPTY: Readonly<Record<string, readonly string[]>> = {
  'chancery-pipeline-health': ['Dead letters by reason', 'Gaps', 'Seconds not observed', 'Incomplete polls'],
};

/** Views that say how complete their answer is: a panel that asks one shows it. */
export const VIEWS_WITH_COMPLETENESS = /\b(?:chance_candles|candles|coverage_by_event)\b/;
/** Views of market data without completeness of their own: a chart or table of one takes it from coverage_by_event. */
export const VIEWS_OF_MARKET_DATA = /\b(?:movers|event_overround|spread_stats)\b/;
