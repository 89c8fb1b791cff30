const POSITION = [`_log`, `'/'`, `toString(_partition)`, `'/'`, `toString(_offset)`];
const ROW = [...POSITION, `'/'`, 'toString(_index)'];

/** The text of a row: values separated by spaces. */
const text = (position: readonly string[], ...values: string[]): string =>
  `concat(${[...position, ...values.flatMap((value) => [`' '`, value])].join(', ')})`;

/** Microseconds of the first listing in the same state, and the number of the entry. */
const LISTING = ['toString(toUnixTimestamp64Micro(unchanged_from))', 'toString(entry)'];

const side = (column: string): string => `ifNull(toString(${column}), 'null')`;

/** For every table of the ledger, a SELECT that returns its rows in the ledger's text form. */
export const TABLE_ROWS: Readonly<Record<string, string>> = {
  raw_records: select(
    'raw_records',
    ['_topic', `'/'`, ...POSITION],
    'toString(session_id)',
    'toString(sequence)',
    'kind',
  ),
  dead_letters: select('dead_letters', ['_topic', `'/'`, ...ROW]),
  price_ticks: select(
    'price_ticks',
    ROW,
    'market',
    'toString(last)',
    side('bid'),
    side('ask'),
    'toString(source)',
    'toString(repeated)',
    'toString(toUnixTimestamp64Milli(received_at))',
  ),
  chance_points: select(
    'chance_points',
    ROW,
    'market',
    'toString(toUnixTimestamp(occurred_at))',
    'toString(chance)',
    'toString(source)',
    'toString(repeated)',
  ),
  chance_history_points: select(
    'chance_history_points FINAL',
    ['event'],
    'market',
    'period',
    'toString(toUnixTimestamp(occurred_at))',
    'toString(chance)',
  ),
  event_observations: select('event_observations FINAL', ROW, 'event', ...LISTING),
  market_observations: select('market_observations FINAL', ROW, 'market', ...LISTING),
  category_observations: select('category_observations FINAL', ROW, 'category', ...LISTING),
  tag_observations: select('tag_observations FINAL', ROW, 'tag', ...LISTING),
  coin_observations: select('coin_observations FINAL', ROW, 'coin', ...LISTING),
  balance_updates: select('balance_updates', ROW, 'account', 'asset', 'toString(balance)', 'toString(free)'),
  trade_records: select('trade_records FINAL', ['account'], 'trade_record_id', 'toString(quantity)', 'toString(price)'),
  activity_records: select('activity_records FINAL', ['trade_record_id'], 'toString(quantity)', 'toString(price)'),
  account_pages: select('account_pages', ROW, 'operation', 'toString(items)', 'toString(rejected_items)'),
  collector_events: select(
    'collector_events',
    ROW,
    'type',
    'session_id',
    'toString(sequence)',
    'toString(toUnixTimestamp64Micro(recorded_at))',
  ),
  audits: select(
    'audits',
    ROW,
    'event',
    'toString(toUnixTimestamp64Micro(audited_at))',
    'toString(reason)',
    'toString(compared)',
    'toString(changed)',
    'toString(missed)',
    'toString(mismatches)',
  ),
  audit_mismatches: select(
    'audit_mismatches',
    ROW,
    'event',
    'market',
    'toString(our_last)',
    side('our_bid'),
    side('our_ask'),
    'toString(their_last)',
    side('their_bid'),
    side('their_ask'),
  ),
  polls: select('polls', ROW, 'poll_id', 'toString(outcome)', 'toString(received_items)'),
};

function select(from: string, position: readonly string[], ...values: string[]): string {
  return `SELECT ${text(position, ...values)} AS row FROM ${from}`;
}
