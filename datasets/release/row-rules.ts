import { COVERED_TABLES } from '../coverage.js';

/** Rows that no export has: SQL of what is wrong with a row, by the values of the row alone. */
interface RowRule {
  readonly column: string;
  readonly damaged: string;
  readonly what: string;
}

const oneOf = (column: string, values: readonly string[]): RowRule => ({
  column,
  damaged: `${column} NOT IN (${values.map((value) => `'${value}'`).join(', ')})`,
  what: `is none of ${values.join(', ')}`,
});
const notEmpty = (column: string): RowRule => ({ column, damaged: `${column} = ''`, what: 'is empty' });
const probability = (column: string): RowRule => ({
  column,
  damaged: `NOT (${column} >= 0 AND ${column} <= 1)`,
  what: 'is not from 0 to 1',
});
/** An empty side of the book is NULL. */
const bestPrice = (column: string): RowRule => ({
  column,
  damaged: `NOT (${column} > 0 AND ${column} < 1)`,
  what: 'is neither NULL nor between 0 and 1',
});

export const ROW_RULES: Readonly<Record<string, readonly RowRule[]>> = {
  price_ticks: [
    notEmpty('event'),
    notEmpty('market'),
    probability('last'),
    bestPrice('bid'),
    bestPrice('ask'),
    oneOf('source', ['snapshot', 'delta']),
    { column: 'repeated', damaged: "repeated AND source = 'snapshot'", what: 'is true of a snapshot' },
    {
      column: 'received_at',
      damaged: 'toUnixTimestamp64Micro(received_at) % 1000 != 0',
      what: 'is not a whole millisecond',
    },
  ],
  chance_points: [
    notEmpty('market'),
    probability('chance'),
    oneOf('source', ['last-known', 'change', 'aggregate']),
    { column: 'repeated', damaged: "repeated AND source != 'change'", what: 'is true, but the point is no change' },
    {
      column: 'occurred_at',
      damaged: 'toUnixTimestamp64Micro(occurred_at) % 1000000 != 0',
      what: 'is not a whole second',
    },
  ],
  chance_history_points: [notEmpty('market'), probability('chance'), oneOf('source', ['rest', 'stream'])],
  collector_events: [
    notEmpty('session_id'),
    notEmpty('type'),
    { column: 'sequence', damaged: 'sequence = 0', what: 'is 0, but sequences begin with 1' },
  ],
  polls: [
    oneOf('outcome', ['complete', 'incomplete', 'failed']),
    { column: 'finished_at', damaged: 'finished_at < started_at', what: 'is before started_at' },
    {
      column: 'distinct_items',
      damaged: 'distinct_items > received_items',
      what: 'is greater than received_items',
    },
  ],
  audits: [
    { column: 'mismatches', damaged: 'mismatches > compared', what: 'is greater than compared' },
    { column: 'last_equal_at', damaged: 'last_equal_at > audited_at', what: 'is behind audited_at' },
  ],
  audit_mismatches: [
    { column: 'last_equal_at', damaged: 'last_equal_at > audited_at', what: 'is behind audited_at' },
    {
      column: 'their_last',
      damaged:
        '(our_last, ifNull(our_bid, -1), ifNull(our_ask, -1)) = (their_last, ifNull(their_bid, -1), ifNull(their_ask, -1))',
      what: 'is equal to the recorded price, as bid and ask are: no mismatch',
    },
  ],
  raw_records: [
    notEmpty('kind'),
    oneOf('encoding', ['json', 'text', 'base64']),
    { column: 'piece', damaged: 'piece >= pieces', what: 'is not below pieces' },
    {
      column: 'body',
      damaged: "body != '' AND length(body) != body_bytes",
      what: 'does not have body_bytes bytes',
    },
  ],
  dead_letters: [notEmpty('reason')],
  candles: [
    {
      column: 'high',
      damaged: 'high < open OR high < close OR high < low',
      what: 'is not the highest of open, high, low and close',
    },
    {
      column: 'low',
      damaged: 'low > open OR low > close',
      what: 'is not the lowest of open, high, low and close',
    },
    { column: 'ticks', damaged: 'ticks = 0', what: 'is 0' },
    {
      column: 'begins_at',
      damaged: 'toUnixTimestamp64Micro(begins_at) % (toInt64(period_seconds) * 1000000) != 0',
      what: 'is not the start of a period',
    },
    {
      column: 'missing',
      damaged: 'abs(observed + backfilled + missing - 1) > 1e-6',
      what: 'does not add up to 1 with observed and backfilled',
    },
  ],
  resolutions: [
    oneOf('resolution', ['yes', 'no', 'void']),
    {
      column: 'chance',
      damaged: "resolution = 'yes' AND chance = 0 OR resolution = 'no' AND chance = 1",
      what: 'is the final chance of the other resolution',
    },
    { column: 'chance', damaged: 'chance NOT IN (0, 1)', what: 'is not final' },
  ],
  coverage: [
    oneOf('state', ['observed', 'backfilled', 'missing', 'unknown']),
    oneOf('table', COVERED_TABLES),
    { column: 'ends_at', damaged: 'ends_at <= begins_at', what: 'is not behind begins_at' },
    {
      column: 'ends_at',
      damaged: 'ends_at > toStartOfDay(begins_at) + INTERVAL 1 DAY',
      what: 'is not on the day of begins_at',
    },
    {
      column: 'state',
      damaged: "table != 'chance_points' AND state = 'backfilled'",
      what: 'is backfilled, but only chances have a history',
    },
    {
      column: 'cause',
      damaged: "state IN ('observed', 'backfilled') AND cause != ''",
      what: 'is of a range that is not missing',
    },
  ],
};
