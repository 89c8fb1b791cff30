import { TOPICS } from '../core/index.js';
import type { ExportedTable } from './exported-table.js';
import { text } from './sql-text.js';

/** Stands for the size of an order: the exchange sends only its price. */
const NOMINAL_AMOUNT = "'1'";

/** IDs without characters that have a meaning in CSV or in names of files: a UUID stays as it is. */
const symbol = 'encodeURLComponent(toString(market)) AS symbol';
const micros = (time: string): string => `toString(toUnixTimestamp64Micro(assumeNotNull(${time})))`;

const POSITION = ['_log', '_partition', '_offset', '_index'];
const ticks = { topics: [TOPICS.orderBook], time: ['received_at'], order: ['market', 'received_at'] } as const;

/** The order book stream has no time of the exchange. */
const receivedAt = `${micros('received_at')} AS timestamp, timestamp AS local_timestamp`;

/** Best bid and ask after every tick. */
const quotes: ExportedTable = {
  ...ticks,
  name: 'quotes',
  rows: 'NOT repeated',
  lines: {
    table: 'price_ticks',
    columns: ['symbol', 'timestamp', 'local_timestamp', 'ask_amount', 'ask_price', 'bid_price', 'bid_amount'],
    order: ['received_at', ...POSITION],
    select: (rows) => `
      SELECT
        ${symbol}, toDate(received_at, 'UTC') AS day, ${receivedAt},
        if(isNull(ask), '', ${NOMINAL_AMOUNT}) AS ask_amount, ifNull(toString(ask), '') AS ask_price,
        ifNull(toString(bid), '') AS bid_price, if(isNull(bid), '', ${NOMINAL_AMOUNT}) AS bid_amount,
        received_at, ${POSITION.join(', ')}
      FROM (${rows})`,
  },
};

/** Fills of all users, in YES terms: who buys NO sells YES. */
const trades: ExportedTable = {
  name: 'trades',
  topics: [TOPICS.account],
  time: ['executed_at'],
  order: ['market'],
  view: (_, condition) => `SELECT * FROM activity WHERE ${condition}`,
  lines: {
    columns: ['symbol', 'timestamp', 'local_timestamp', 'id', 'side', 'price', 'amount'],
    order: ['seen_at', 'executed_at', 'trade_record_id'],
    select: (rows) => `
      SELECT
        ${symbol}, toDate(assumeNotNull(executed_at), 'UTC') AS day,
        ${micros('executed_at')} AS timestamp, ${micros('seen_at')} AS local_timestamp,
        encodeURLComponent(trade_record_id) AS id,
        multiIf(traded NOT IN ('BUY', 'SELL'), 'unknown', (traded = 'BUY') = (outcome = 'YES'), 'buy', 'sell') AS side,
        toString(assumeNotNull(yes_price)) AS price, toString(quantity) AS amount,
        seen_at, executed_at, trade_record_id
      FROM (SELECT * EXCEPT (side, price), upper(toString(side)) AS traded FROM (${rows}))`,
    unwritable: {
      rows: "market = '' OR yes_price IS NULL OR executed_at IS NULL OR quantity <= 0",
      what: 'without a market, an outcome, a time or an amount',
    },
  },
};

/** Records that were lost between two ticks of a market. */
const lost = `(SELECT groupArray((_log, _partition, first_offset)) FROM lost_ranges WHERE _topic = ${text(TOPICS.orderBook)})`;

/**
 * Best bid and ask as a book of one level per side. A snapshot has one line per side, also where the side is empty (amount 0):
 * it is the initial snapshot of a day, of a connection, and after lost records.
 */
const incrementalBook: ExportedTable = {
  ...ticks,
  name: 'incremental_book_L2',
  rows: 'NOT repeated',
  lines: {
    table: 'price_ticks',
    columns: ['symbol', 'timestamp', 'local_timestamp', 'is_snapshot', 'side', 'price', 'amount'],
    order: ['received_at', ...POSITION, 'step'],
    select: (rows) => `
      SELECT
        symbol, day, timestamp, local_timestamp, line.1 AS is_snapshot, line.2 AS side, line.3 AS price, line.4 AS amount,
        received_at, ${POSITION.join(', ')}, step
      FROM
      (
        SELECT
          *,
          arrayConcat(
            ${removed('bid')},
            ${removed('ask')},
            ${added('bid', '0')},
            ${added('ask', '1')}
          ) AS all_lines
        FROM
        (
          SELECT
            ${symbol}, toDate(received_at, 'UTC') AS day, ${receivedAt}, received_at, ${POSITION.join(', ')},
            ifNull(toString(bid), '') AS best_bid, ifNull(toString(ask), '') AS best_ask,
            lagInFrame(best_bid) OVER earlier AS previous_bid, lagInFrame(best_ask) OVER earlier AS previous_ask,
            lagInFrame(toString(_log)) OVER earlier AS previous_log, lagInFrame(_offset) OVER earlier AS previous_offset,
            source = 'snapshot' OR previous_log != _log OR arrayExists(
              first -> first.1 = _log AND first.2 = _partition AND previous_offset < first.3 AND first.3 < _offset, ${lost}
            ) AS is_state
          FROM (${rows})
          WINDOW earlier AS (PARTITION BY market, toDate(received_at, 'UTC') ORDER BY received_at, ${POSITION.join(', ')})
        )
      )
      ARRAY JOIN all_lines AS line, arrayEnumerate(all_lines) AS step`,
  },
};

/** The line that removes the previous best price. */
function removed(side: 'bid' | 'ask'): string {
  return `if(previous_${side} != '' AND previous_${side} != best_${side}, [('false', '${side}', previous_${side}, '0')], [])`;
}

/**
 * The line of a new best price.
 * @param none the price of the line of an empty side in a snapshot
 */
function added(side: 'bid' | 'ask', none: string): string {
  const best = `best_${side}`;
  return `multiIf(
              is_state AND ${best} = '', [('true', '${side}', '${none}', '0')],
              is_state, [('true', '${side}', ${best}, ${NOMINAL_AMOUNT})],
              ${best} != '' AND ${best} != previous_${side}, [('false', '${side}', ${best}, ${NOMINAL_AMOUNT})],
              [])`;
}

/** The data types of Tardis.dev's downloadable CSV files that can be made of ours. */
export const TARDIS_TABLES: readonly ExportedTable[] = [quotes, trades, incrementalBook];
