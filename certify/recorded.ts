import { normalised } from './amounts.js';

/** Runs a SELECT; 64-bit integers are numbers. */
export type Query = <T>(sql: string) => Promise<T[]>;

/** A row of `price_ticks`. */
export interface Tick {
  readonly event: string;
  readonly market: string;
  readonly source: 'snapshot' | 'delta';
  readonly repeated: boolean;
  readonly last: number;
  readonly bid: number | null;
  readonly ask: number | null;
  /** Unix microseconds, truncated to milliseconds. */
  readonly receivedAt: number;
}

/** A live row of `chance_points`. */
export interface LivePoint {
  readonly event: string;
  readonly market: string;
  readonly second: number;
  readonly chance: number;
  readonly receivedAt: number;
}

/** The last chance of a second in `chance_series`. */
export interface SecondPoint {
  readonly market: string;
  readonly second: number;
  readonly chance: number;
}

export interface Gap {
  readonly stream: string;
  readonly event: string;
  readonly begins: number;
  readonly ends: number;
  readonly cause: string;
  /** In the coverage files of a release: missing, backfilled or unknown. */
  readonly state?: string;
}

export interface Range {
  readonly stream: string;
  readonly event: string;
  readonly begins: number;
  readonly ends: number;
}

export interface Audit {
  readonly event: string;
  readonly at: number;
}

export interface LossSample {
  /** Audits that were made at intervals. */
  readonly audits: number;
  /** Markets that changed since the previous audit, in all of them. */
  readonly samples: number;
  /** Those of them whose last change was not received. */
  readonly missed: number;
}

/** A frame, or an entry of one, that could not be read. */
export interface DeadLetter {
  /** Event of its frame; empty when the frame is not JSON. */
  readonly event: string;
  /** When it was received, Unix microseconds. */
  readonly at: number;
}

/** When each event was observed on each stream, and when it was not. */
export interface StreamCoverage {
  readonly gaps: readonly Gap[];
  readonly observed: readonly Range[];
}

/** What the tables and views have of the streams. */
export interface RecordedStreams extends StreamCoverage {
  readonly ticks: readonly Tick[];
  readonly livePoints: readonly LivePoint[];
  readonly seconds: readonly SecondPoint[];
  readonly audits: readonly Audit[];
  readonly loss: LossSample;
  /** By stream, in the order of their receipt. */
  readonly deadLetters: ReadonlyMap<string, readonly DeadLetter[]>;
}

const micros = (column: string): string => `toUnixTimestamp64Micro(${column})`;
const ranges = 'stream, event, toUnixTimestamp64Micro(begins_at) AS begins, toUnixTimestamp64Micro(ends_at) AS ends';

export async function readStreams(query: Query): Promise<RecordedStreams> {
  const deadLetters = await query<DeadLetter & { kind: string }>(
    `SELECT kind, JSONExtractString(body, 'e') AS event, ${micros('assumeNotNull(dead_letters.received_at)')} AS at
     FROM dead_letters INNER JOIN (SELECT _topic, _log, _partition, _offset, body FROM raw_records
       WHERE (_topic, _log, _partition, _offset) IN (SELECT _topic, _log, _partition, _offset FROM dead_letters)) AS raw
     USING (_topic, _log, _partition, _offset)
     WHERE kind IN ('order-book.frame', 'chance.frame') AND dead_letters.received_at IS NOT NULL ORDER BY at`,
  );
  const [loss] = await query<LossSample>(
    `SELECT countIf(reason = 'interval') AS audits, sumIf(changed, reason = 'interval') AS samples,
       sumIf(missed, reason = 'interval') AS missed FROM audits`,
  );
  return {
    ticks: await query<Tick>(
      `SELECT event, market, toString(source) AS source, repeated, last, bid, ask, ${micros('received_at')} AS receivedAt
       FROM price_ticks ORDER BY market, _log, _partition, _offset, _index`,
    ),
    livePoints: await query<LivePoint>(
      `SELECT event, market, toUnixTimestamp(occurred_at) AS second, chance, ${micros('received_at')} AS receivedAt
       FROM chance_points WHERE source = 'change' ORDER BY market, _log, _partition, _offset, _index`,
    ),
    seconds: await query<SecondPoint>(
      `SELECT market, toUnixTimestamp(points.occurred_at) AS second,
         argMax(chance, (points.occurred_at, received_at, log_position)) AS chance
       FROM chance_series AS points GROUP BY market, second ORDER BY market, second`,
    ),
    gaps: await query<Gap>(`SELECT ${ranges}, cause FROM gaps WHERE stream IN ('order-book', 'chance')`),
    observed: await query<Range>(`SELECT ${ranges} FROM observed_ranges WHERE stream IN ('order-book', 'chance')`),
    audits: await query<Audit>(`SELECT event, ${micros('audited_at')} AS at FROM audits ORDER BY event, at`),
    loss: loss ?? { audits: 0, samples: 0, missed: 0 },
    deadLetters: new Map(
      (['order-book', 'chance'] as const).map((stream) => [
        stream,
        deadLetters.filter(({ kind }) => kind === `${stream}.frame`),
      ]),
    ),
  };
}

/** The columns that identify a row, and others. */
export interface TextRow {
  readonly key: readonly string[];
  readonly value: readonly string[];
}

/** What the tables and views have of accounts and of fills of all users; amounts are decimals without trailing zeros. */
export interface RecordedAccounts {
  /** By account, in the order of `trade_order`: trade ID, asset; side, quantity, price, fee, time. */
  readonly trades: readonly TextRow[];
  /** User, market, YES or NO, side, quantity, price, milliseconds. */
  readonly activity: readonly TextRow[];
  /** Scope, key; fills, shares, volume. Of minutes the key is Unix seconds, market, YES or NO, and side. */
  readonly volumes: Readonly<Record<'market' | 'event' | 'day' | 'minute', readonly TextRow[]>>;
  readonly vwaps: readonly { readonly scope: string; readonly market: string; readonly vwap: number | null }[];
  readonly balances: readonly TextRow[];
  readonly positions: readonly TextRow[];
  /** Account, asset; shares, average cost, FIFO cost. */
  readonly pnlByAsset: readonly TextRow[];
  readonly pnlByAccount: readonly TextRow[];
  readonly settlements: readonly TextRow[];
  /** The accounts whose transactions are recorded. */
  readonly withTransactions: ReadonlySet<string>;
  /** Market; yes, no, void or unresolved. */
  readonly resolutions: readonly TextRow[];
  /** Markets that event search listed; the others had closed before recording began. */
  readonly listedMarkets: ReadonlySet<string>;
  /** All deposits less all withdrawals. */
  readonly deposited: string;
  readonly usdc: string;
  /** Name of the account, by user ID. */
  readonly names: ReadonlyMap<string, string>;
}

const time = (column: string): string => `toString(ifNull(toUnixTimestamp64Micro(${column}), 0))`;

/** Market and start; open, high, low, close, bid, ask, the four of the mid, ticks. */
export type CandleRow = TextRow;

export function readCandles(query: Query, periodSeconds: number): Promise<CandleRow[]> {
  const mids = ['mid_open', 'mid_high', 'mid_low', 'mid_close'];
  const values = ['open', 'high', 'low', 'close', 'bid', 'ask', ...mids, 'ticks'];
  return readTexts(
    query,
    ['market', 'toUnixTimestamp(begins_at)'],
    values,
    `candles(period_seconds = ${periodSeconds})`,
  );
}

/** Asks for columns as texts: decimals without trailing zeros, `NULL` for none. */
export async function readTexts(
  query: Query,
  key: readonly string[],
  value: readonly string[],
  from: string,
): Promise<TextRow[]> {
  const text = (columns: readonly string[]) =>
    columns.map((column) => `ifNull(toString(${column}), 'NULL')`).join(', ');
  const rows = await query<TextRow>(`SELECT [${text(key)}] AS key, [${text(value)}] AS value FROM ${from}`);
  return rows.map((row) => ({ key: row.key.map(normalised), value: row.value.map(normalised) }));
}

export async function readAccounts(query: Query): Promise<RecordedAccounts> {
  const texts = (key: readonly string[], value: readonly string[], from: string) => readTexts(query, key, value, from);
  const volumes = (by: readonly string[], view: string) =>
    texts(['scope', ...by], ['trades', 'shares', 'volume'], `volume_by_${view}`);
  const sum = async (sql: string) =>
    normalised((await query<{ sum: string }>(`SELECT toString(${sql}`))[0]?.sum ?? '0');
  const set = async (sql: string) => new Set((await query<{ value: string }>(sql)).map(({ value }) => value));
  const users = await query<{ account: string; user: string }>(
    `SELECT account, any(user_id) AS user FROM
       (SELECT account, user_id FROM profile_stats UNION ALL SELECT account, user_id FROM trades)
     WHERE user_id != '' GROUP BY account ORDER BY account`,
  );
  const names = new Map<string, string>();
  for (const { account, user } of users) if (!names.has(user)) names.set(user, account);
  return {
    trades: await texts(
      ['account', 'trade_id', 'asset'],
      ['side', 'quantity', 'price', 'fee', time('executed_at')],
      'trades ORDER BY account, trade_order',
    ),
    activity: await texts(
      ['user_id', 'market', 'position', 'side', 'quantity', 'price', time('executed_at')],
      [],
      'activity',
    ),
    volumes: {
      market: await volumes(['market'], 'market'),
      event: await volumes(['event'], 'event'),
      day: await volumes(['day'], 'day'),
      minute: await volumes(['toUnixTimestamp(begins_at)', 'market', 'outcome', 'side'], 'period(period_seconds = 60)'),
    },
    vwaps: await query(`SELECT scope, market, vwap FROM volume_by_market`),
    balances: await texts(['account', "if(ticker = 'USDC', 'USDC', asset)"], ['balance', 'free'], 'balances'),
    positions: await texts(['account', 'asset'], ['shares', 'cost'], 'positions'),
    pnlByAsset: await texts(['account', 'asset'], ['shares', 'cost', 'fifo_cost'], 'pnl_by_asset WHERE shares != 0'),
    pnlByAccount: await texts(
      ['account'],
      ['realised_pnl', 'fees', 'cost', 'unrealised_pnl', 'unexplained'],
      'pnl_by_account',
    ),
    settlements: await texts(
      ['account', 'asset'],
      ['payout'],
      // An asset that was sold before has no payout; one that was held and lost has one of 0, also without transactions.
      `pnl_by_asset WHERE settlement = 'payout' OR
         (settlement = 'inferred' AND (account, asset) IN (SELECT account, asset FROM holdings WHERE shares != 0))`,
    ),
    withTransactions: await set(`SELECT DISTINCT account AS value FROM account_pages WHERE operation = 'transactions'`),
    resolutions: await texts(['market'], ['resolution'], 'resolutions'),
    listedMarkets: await set('SELECT market AS value FROM markets'),
    deposited: await sum(`sum(if(type = 'DEPOSIT', amount, -amount))) AS sum FROM transactions
      WHERE type IN ('DEPOSIT', 'WITHDRAWAL') AND status = 'COMPLETED'`),
    usdc: await sum(`sum(balance)) AS sum FROM balances WHERE ticker = 'USDC'`),
    names,
  };
}
