import { TOPICS } from '../../core/index.js';

export const SEED = 1;
export const PARTITIONS = 4;
export const LAST_DAY = '2026-01-05';
/** A multiple of the partitions: the events of each are a quarter of all. */
export const EVENTS = 40;
export const MARKETS_PER_EVENT = 12;

/** Frames of the order book with one entry each, spread over a day. */
export interface Rows {
  readonly log: string;
  /** Begin of the day, Unix milliseconds. */
  readonly begin: number;
  /** Number of the first frame in the data set. */
  readonly first: number;
  readonly count: number;
}

const hash = (name: string) => `cityHash64(${SEED}, number, '${name}')`;
const uuid = (name: string, number: string) => `toString(reinterpretAsUUID(sipHash128(${SEED}, '${name}', ${number})))`;
const text = (value: string) => `'${value}'`;

/** What a frame has: whole cents on a slow wave per market with noise, and a spread of 2 to 6 cents. */
const frame = ({ begin, first, count }: Rows) => `
  number % ${PARTITIONS} + ${PARTITIONS} * (${hash('event')} % ${EVENTS / PARTITIONS}) AS event_number,
  event_number * ${MARKETS_PER_EVENT} + ${hash('market')} % ${MARKETS_PER_EVENT} AS market_number,
  ${uuid('event', 'event_number')} AS event, ${uuid('market', 'market_number')} AS market,
  toInt64(${begin}) + intDiv((number - ${first}) * 86400000, ${Math.max(1, count)}) AS ms,
  toInt64(50 + 30 * sin(market_number + ms / 3e8) + 12 * sin(market_number * 7 + ms / 1.1e7) + ${hash('noise')} % 3 - 1) AS cents,
  if(${hash('no bid')} % 50 = 0, NULL, (cents - 1 - ${hash('bid')} % 3) / 100) AS bid,
  if(${hash('no ask')} % 50 = 0, NULL, (cents + 1 + ${hash('ask')} % 3) / 100) AS ask`;

const JSON_BODY = `concat('{"t":"PRICES_DATA_DELTA","e":"', event, '","d":[{"o":"', market, '","c":', toString(cents / 100),
  ',"b":', toString(ifNull(bid, 0)), ',"a":', toString(ifNull(ask, 1)), '}]}')`;

/** The rows of these frames in a table. */
export function rowsQuery(table: 'price_ticks' | 'raw_records', rows: Rows) {
  const { log, first, count } = rows;
  const position = {
    _log: text(log),
    _partition: `number % ${PARTITIONS}`,
    _offset: `intDiv(number, ${PARTITIONS})`,
    _index: '0',
  };
  const values: Readonly<Record<string, string>> = {
    price_ticks: {
      ...position,
      ...{ received_at: `fromUnixTimestamp64Milli(ms, 'UTC')`, event: 'event', market: 'market' },
      ...{ last: 'cents / 100', bid: 'bid', ask: 'ask', source: text('delta') },
      repeated: `${hash('repeated')} % 100 = 0`,
    },
    raw_records: {
      _topic: text(TOPICS.orderBook),
      ...position,
      received_at: `fromUnixTimestamp64Micro(ms * 1000 + toInt64(${hash('micros')} % 1000), 'UTC')`,
      session_id: uuid('session', '0'),
      sequence: 'number + 1',
      ...{ kind: text('order-book.frame'), encoding: text('json'), piece: '0', pieces: '1' },
      body_bytes: `length(${JSON_BODY})`,
      body_expires_at: "toDateTime('2100-01-01 00:00:00', 'UTC')",
      request: `concat('{"stream":"order-book","connection":"', ${uuid('connection', '0')}, '"}')`,
      body: JSON_BODY,
    },
  }[table];
  const columns = Object.keys(values);
  const select = `WITH ${frame(rows)} SELECT ${Object.values(values).join(', ')} FROM numbers(${first}, ${count})`;
  return { columns, select };
}
