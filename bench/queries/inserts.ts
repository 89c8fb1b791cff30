import {
  ACCOUNTS,
  ASSETS_PER_ACCOUNT,
  DAYS,
  type DataSetSize,
  EVENTS,
  GAP_SECONDS,
  HISTORY_SECONDS,
  HOT_EVENTS,
  HOT_FACTOR,
  LOG,
  MARKETS_PER_EVENT,
  PARTITIONS,
  POLL_SECONDS,
} from './size.js';

/** Rows of one table, one statement per day. */
export interface Insert {
  readonly table: string;
  rowsPerDay(size: DataSetSize): number;
  readonly columns: readonly string[];
  /** Reads numbers() from {first} on; {begin} is the start of the 30 days, Unix seconds. */
  readonly select: string;
}

const MARKETS = EVENTS * MARKETS_PER_EVENT;
const COLD_EVENTS = EVENTS - HOT_EVENTS;
const SLOTS = COLD_EVENTS + HOT_EVENTS * HOT_FACTOR;
const POSITION = ['_log', '_partition', '_offset', '_index'];
const numbers = 'FROM numbers({first:UInt64}, {rows:UInt64})';
const hash = (name: string) => `cityHash64({seed:UInt32}, number, '${name}')`;
const at = (micros: string) =>
  `fromUnixTimestamp64Micro(toInt64({begin:UInt32}) * 1000000 + toInt64(${micros}), 'UTC')`;
const event = (number: string) => `concat('event-', leftPad(toString(${number}), 3, '0'))`;
const market = (number: string) => `concat('market-', leftPad(toString(${number}), 4, '0'))`;
const asset = (number: string, outcome: string) => `concat('asset-', leftPad(toString(${number}), 4, '0'), ${outcome})`;

/** Spreads row `number` of a day evenly over its 24 hours, without the gaps; microseconds. */
const spread = (unit: number) =>
  `intDiv(number, {rows:UInt64}) * 86400000000 + intDiv((number % {rows:UInt64}) * 86400000000, {rows:UInt64}) AS even,
    intDiv(intDiv(even, 3600000000) * 3600000000 + intDiv(even % 3600000000 * ${3600 - GAP_SECONDS}, 3600), ${unit}) * ${unit} AS micros`;
const traded = `${hash('slot')} % ${SLOTS} AS slot,
    if(slot < ${COLD_EVENTS}, slot + ${HOT_EVENTS}, intDiv(slot - ${COLD_EVENTS}, ${HOT_FACTOR})) AS event_number,
    event_number * ${MARKETS_PER_EVENT} + ${hash('market')} % ${MARKETS_PER_EVENT} AS market_number`;
/** Whole cents from 3 to 97: a slow wave with its own phase per market, and noise. */
const cents = `toInt64(50 + 30 * sin(market_number + micros / 3e11) + 12 * sin(market_number * 7 + micros / 1.1e10) + ${hash('noise')} % 7 - 3) AS cents`;
const hourly = (perHour: number) => `intDiv(number, ${perHour}) AS hour, number % ${perHour} AS entry`;

export const INSERTS: readonly Insert[] = [
  {
    table: 'price_ticks',
    rowsPerDay: ({ ticks }) => Math.floor(ticks / DAYS),
    columns: [...POSITION, 'received_at', 'event', 'market', 'last', 'bid', 'ask', 'source', 'repeated'],
    select: `WITH ${spread(1000)}, ${traded}, ${cents}
      SELECT '${LOG}', event_number % ${PARTITIONS}, intDiv(number, ${PARTITIONS}), number % ${PARTITIONS}, ${at('micros')}, ${event('event_number')}, ${market('market_number')},
        cents / 100, if(${hash('bid')} % 50 = 0, NULL, (cents - 1) / 100), if(${hash('ask')} % 50 = 0, NULL, (cents + 1) / 100),
        'delta', ${hash('repeated')} % 100 = 0 ${numbers}`,
  },
  {
    table: 'chance_points',
    rowsPerDay: ({ chancePoints }) => Math.floor(chancePoints / DAYS),
    columns: [...POSITION, 'received_at', 'occurred_at', 'event', 'market', 'chance', 'source', 'repeated'],
    select: `WITH ${spread(1000)}, ${traded}, ${cents}
      SELECT 'log', event_number % 4, number, 0, ${at('micros')}, ${at('intDiv(micros, 1000000) * 1000000')},
        ${event('event_number')}, ${market('market_number')}, cents / 100,
        if(${hash('source')} % 20 = 0, 'aggregate', 'change'), false ${numbers}`,
  },
  {
    // A point of raw history in the gap of every hour, for every market.
    table: 'chance_history_points',
    rowsPerDay: () => 24 * MARKETS,
    columns: [...POSITION, 'received_at', 'event', 'market', 'period', 'occurred_at', 'chance', 'source'],
    select: `WITH ${hourly(MARKETS)}, hour * 3600000000 + ${3_600_000_000 - 30_000_000} AS micros, entry AS market_number, ${cents}
      SELECT 'log', 0, number, 0, ${at('micros + 60000000')}, ${event(`intDiv(entry, ${MARKETS_PER_EVENT})`)}, ${market('entry')},
        '1s', ${at('micros')}, cents / 100, 'rest' ${numbers}`,
  },
  {
    table: 'event_observations',
    rowsPerDay: () => 24 * EVENTS,
    columns: [
      ...POSITION,
      'received_at',
      'poll_id',
      'event',
      'title',
      'slug',
      'category',
      'tags',
      'created_at',
      'closes_at',
      'markets',
      'volume_24h',
      'total_volume',
      'liquidity',
    ],
    select: `WITH ${hourly(EVENTS)}
      SELECT 'log', 0, number, entry, ${at('hour * 3600000000 + 3590000000')}, concat('search-', toString(hour * 360 + 359)), ${event('entry')},
        concat('Title of event ', toString(entry)), ${event('entry')}, ['economy', 'sports', 'weather'][1 + entry % 3], ['tag'],
        ${at('0')}, ${at(`${DAYS + 30} * 86400000000`)},
        arrayMap(i -> ${market(`entry * ${MARKETS_PER_EVENT} + i`)}, range(${MARKETS_PER_EVENT})), hour % 24 * 1000., hour * 1000., 5000. ${numbers}`,
  },
  {
    table: 'market_observations',
    rowsPerDay: () => 24 * MARKETS,
    columns: [
      ...POSITION,
      'received_at',
      'poll_id',
      'event',
      'market',
      'name',
      'yes_asset',
      'no_asset',
      'yes_price',
      'no_price',
    ],
    select: `WITH ${hourly(MARKETS)}
      SELECT 'log', 0, number, entry, ${at('hour * 3600000000 + 3590000000')}, concat('search-', toString(hour * 360 + 359)),
        ${event(`intDiv(entry, ${MARKETS_PER_EVENT})`)}, ${market('entry')}, concat('Name of market ', toString(entry)),
        ${asset('entry', "'-yes'")}, ${asset('entry', "'-no'")}, 0.5, 0.5 ${numbers}`,
  },
  {
    table: 'polls',
    rowsPerDay: () => 86_400 / POLL_SECONDS,
    columns: [
      ...POSITION,
      'started_at',
      'finished_at',
      'session_id',
      'poll_id',
      'operation',
      'subject',
      'expected_items',
      'received_items',
      'distinct_items',
      'pages',
      'truncated',
      'outcome',
      'cause',
    ],
    select: `SELECT 'log', 0, number, 0, ${at(`number * ${POLL_SECONDS}000000`)}, ${at(`number * ${POLL_SECONDS}000000 + 200000`)},
        'session', concat('search-', toString(number)), 'event-search', '', ${EVENTS}, ${EVENTS}, ${EVENTS}, 4, false, 'complete', '' ${numbers}`,
  },
  {
    // Five lists of every account.
    table: 'polls',
    rowsPerDay: () => (5 * ACCOUNTS * 86_400) / POLL_SECONDS,
    columns: [
      ...POSITION,
      'started_at',
      'finished_at',
      'session_id',
      'poll_id',
      'operation',
      'subject',
      'expected_items',
      'received_items',
      'distinct_items',
      'pages',
      'truncated',
      'outcome',
      'cause',
    ],
    select: `WITH intDiv(number, ${5 * ACCOUNTS}) AS run, run * ${POLL_SECONDS}000000 AS micros
      SELECT 'log', 0, 1000000000 + number, 0, ${at('micros')}, ${at('micros + 100000')}, 'session', concat('poll-', toString(number)),
        ['open-positions', 'active-orders', 'balances', 'trades', 'orders'][1 + number % 5],
        concat('account-', toString(intDiv(number, 5) % ${ACCOUNTS})), NULL, 1, 1, 1, false, 'complete', '' ${numbers}`,
  },
  {
    table: 'account_pages',
    rowsPerDay: () => (5 * ACCOUNTS * 86_400) / POLL_SECONDS,
    columns: [
      ...POSITION,
      'received_at',
      'account',
      'poll_id',
      'page',
      'operation',
      'asset',
      'items',
      'rejected_items',
    ],
    select: `WITH intDiv(number, ${5 * ACCOUNTS}) AS run, run * ${POLL_SECONDS}000000 AS micros
      SELECT 'log', 0, number, 0, ${at('micros')}, concat('account-', toString(intDiv(number, 5) % ${ACCOUNTS})), concat('poll-', toString(number)), 0,
        ['open-positions', 'active-orders', 'balances', 'trades', 'orders'][1 + number % 5], '',
        if(number % 5 = 0 AND (run + 1) % 360 = 0, ${ASSETS_PER_ACCOUNT}, 0), 0 ${numbers}`,
  },
  {
    // The positions of one poll an hour, of every account.
    table: 'position_observations',
    rowsPerDay: () => 24 * ACCOUNTS * ASSETS_PER_ACCOUNT,
    columns: [
      ...POSITION,
      'received_at',
      'account',
      'poll_id',
      'page',
      'asset',
      'order_id',
      'event',
      'market',
      'shares',
      'cost',
    ],
    select: `WITH ${hourly(ACCOUNTS * ASSETS_PER_ACCOUNT)}, intDiv(entry, ${ASSETS_PER_ACCOUNT}) AS owner, entry % ${ASSETS_PER_ACCOUNT} * ${MARKETS / ASSETS_PER_ACCOUNT} AS market_number
      SELECT 'log', 0, number, entry, ${at('hour * 3600000000 + 3590000000')}, concat('account-', toString(owner)),
        concat('poll-', toString((hour * 360 + 359) * ${5 * ACCOUNTS} + owner * 5)), 0, ${asset('market_number', "'-yes'")}, '',
        ${event(`intDiv(market_number, ${MARKETS_PER_EVENT})`)}, ${market('market_number')}, 10, 5 ${numbers}`,
  },
  {
    table: 'trade_records',
    rowsPerDay: ({ trades }) => Math.floor(trades / DAYS),
    columns: [
      ...POSITION,
      'received_at',
      'account',
      'poll_id',
      'page',
      'pass_began_at',
      'trade_record_id',
      'trade_id',
      'user_id',
      'order_id',
      'side',
      'event',
      'market',
      'asset',
      'quantity',
      'price',
      'fee',
      'executed_at',
    ],
    select: `WITH ${spread(1)}, number % ${ACCOUNTS} AS owner,
        ${hash('asset')} % ${ASSETS_PER_ACCOUNT} * ${MARKETS / ASSETS_PER_ACCOUNT} AS market_number, ${cents}
      SELECT 'log', 0, number, 0, ${at('micros + 5000000')}, concat('account-', toString(owner)), 'poll', 0, ${at('micros + 5000000')},
        hex(${hash('id')}), hex(${hash('fill')}), concat('user-', toString(owner)), hex(${hash('order')}),
        if(${hash('side')} % 5 < 3, 'BUY', 'SELL'), ${event(`intDiv(market_number, ${MARKETS_PER_EVENT})`)}, ${market('market_number')},
        ${asset('market_number', "'-yes'")}, toDecimal128(1 + ${hash('quantity')} % 10000, 12) / 100, toDecimal128(cents, 12) / 100,
        toDecimal128(${hash('fee')} % 1000, 12) / 10000, ${at('micros')} ${numbers}`,
  },
  {
    table: 'activity_records',
    rowsPerDay: ({ activity }) => Math.floor(activity / DAYS),
    columns: [
      ...POSITION,
      'received_at',
      'account',
      'poll_id',
      'page',
      'trade_record_id',
      'user_id',
      'username',
      'market',
      'outcome_name',
      'position',
      'side',
      'quantity',
      'price',
      'executed_at',
      'event_slug',
      'token_name',
      'is_primary',
    ],
    select: `WITH ${spread(1)}, ${traded}, ${cents}
      SELECT 'log', 0, number, 0, ${at('micros + 5000000')}, '', 'poll', 0, hex(${hash('id')}), concat('user-', toString(${hash('user')} % 5000)), NULL,
        ${market('market_number')}, 'Yes', 'YES', if(${hash('side')} % 2 = 0, 'BUY', 'SELL'),
        toDecimal128(1 + ${hash('quantity')} % 10000, 12) / 100, toDecimal128(cents, 12) / 100, ${at('micros')},
        ${event('event_number')}, 'YES', true ${numbers}`,
  },
  {
    table: 'collector_events',
    rowsPerDay: () => 86_400,
    columns: [...POSITION, 'recorded_at', 'session_id', 'sequence', 'type', 'acknowledged', 'collector', 'version'],
    select: `SELECT 'log', 0, number, 0, ${at('number * 1000000')}, 'session', number * 100000, if(number = 0, 'session-started', 'heartbeat'),
        map('chancery.order-book', number, 'chancery.chance', number), 'collector', '0' ${numbers}`,
  },
  {
    // At the end of every hour both connections are lost, and every event is subscribed again afterwards.
    table: 'collector_events',
    rowsPerDay: () => 24 * 2,
    columns: [...POSITION, 'recorded_at', 'session_id', 'sequence', 'type', 'stream', 'connection_id', 'cause'],
    select: `WITH intDiv(number, 2) AS hour, number % 2 AS stream
      SELECT 'log', 0, 10000000 + number, 0, ${at(`hour * 3600000000 + ${3600 - GAP_SECONDS}000000`)}, 'session', hour * 360000000 + 1 + ${3600 - GAP_SECONDS} * 100000 + stream,
        'disconnected', ['order-book', 'chance'][1 + stream], concat('connection-', toString(number)), 'closed' ${numbers}`,
  },
  {
    table: 'collector_events',
    rowsPerDay: () => 24 * 2 * EVENTS,
    columns: [
      ...POSITION,
      'recorded_at',
      'session_id',
      'sequence',
      'type',
      'stream',
      'connection_id',
      'event',
      'markets',
    ],
    select: `WITH intDiv(number, ${2 * EVENTS}) AS hour, intDiv(number, ${EVENTS}) % 2 AS stream, number % ${EVENTS} AS entry
      SELECT 'log', 0, 20000000 + number, 0, ${at('hour * 3600000000 + 100000 + number % 400')}, 'session', hour * 360000000 + 1 + number % ${2 * EVENTS},
        'subscribed', ['order-book', 'chance'][1 + stream], concat('connection-', toString(hour * 2 + stream)), ${event('entry')},
        arrayMap(i -> ${market(`entry * ${MARKETS_PER_EVENT} + i`)}, range(${MARKETS_PER_EVENT})) ${numbers}`,
  },
  {
    table: 'collector_events',
    rowsPerDay: () => (MARKETS * 86_400) / HISTORY_SECONDS,
    columns: [
      ...POSITION,
      'recorded_at',
      'session_id',
      'sequence',
      'type',
      'stream',
      'event',
      'market',
      'range_from',
      'range_to',
      'fetched_from',
      'poll_id',
    ],
    select: `WITH intDiv(number, ${MARKETS}) AS run, number % ${MARKETS} AS entry, run * ${HISTORY_SECONDS}000000 AS micros
      SELECT 'log', 0, 100000000 + number, 0, ${at('micros + 30000000')}, 'session', run * ${HISTORY_SECONDS} * 100000 + 1000 + entry, 'backfilled', 'chance',
        ${event(`intDiv(entry, ${MARKETS_PER_EVENT})`)}, ${market('entry')},
        ${at(`micros - ${HISTORY_SECONDS}000000`)}, ${at('micros + 20000000')}, ${at(`-${HISTORY_SECONDS}000000`)}, concat('history-', toString(run)) ${numbers}`,
  },
];
