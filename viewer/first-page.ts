import { z } from 'zod';
import type { ReaderDatabase } from './database.js';
import type { CompactResult } from './frames.js';
import { ofExistingTables } from './missing-tables.js';
import type { QueryPool } from './query-pool.js';

/** The lists of events on the first page. */
export const EVENT_LISTS = ['open', 'closing', 'resolved'] as const;
export type EventListName = (typeof EVENT_LISTS)[number];

/** What the browser asks of the first page. */
export const firstPageRequest = z.strictObject({
  list: z.enum(EVENT_LISTS),
  /** Words that are all in the title, the category, the tags or the ID of an event. */
  search: z.string().max(200),
});
export type FirstPageRequest = z.infer<typeof firstPageRequest>;

export interface ListedEvent {
  readonly event: string;
  readonly title: string;
  readonly category: string;
  readonly markets: number;
  /** Planned end of trading, Unix milliseconds; null when the exchange gives none. */
  readonly closesAt: number | null;
  /** USDC, by the exchange. */
  readonly volume24h: number | null;
  /**
   * For an open event: the market with the highest YES price, or empty if the event has a single market. For another event: its
   * resolution, or empty if that is not known.
   */
  readonly outcome: string;
  /** How it is known what it was resolved as: payout, final chance; empty when it is not. */
  readonly basis: string;
  /** Its YES price, or that of the only market, 0 to 1; null when resolved or not known. */
  readonly price: number | null;
  /** When the last price of an event that is not open was received, Unix milliseconds; null of others, and when there is none. */
  readonly endedAt: number | null;
}

export interface EventListing {
  /** Number of events of each list that have the words. */
  readonly counts: Readonly<Record<EventListName, number>>;
  /** Whether any event is recorded. */
  readonly hasEvents: boolean;
  /** The first ones of the list that have the words. */
  readonly events: readonly ListedEvent[];
}

export interface Mover {
  readonly event: string;
  readonly market: string;
  readonly title: string;
  readonly name: string;
  /** Prices of the last trade in YES terms, 0 to 1: now and 24 hours ago. */
  readonly price: number;
  readonly before: number;
}

const KEPT_MS = 4000;
/** While there are no events, or no movers: a new instance has them within seconds. */
const KEPT_EMPTY_MS = 500;
const MAX_EVENTS = 100;
const MAX_MOVERS = 12;

const IS_LISTED: Readonly<Record<EventListName, string>> = {
  open: 'open',
  closing: 'open AND closes_at BETWEEN now64(6) AND now64(6) + INTERVAL 1 DAY',
  resolved: 'NOT open',
};

const HAS_WORDS = `arrayAll(
    word -> positionCaseInsensitiveUTF8(arrayStringConcat([ifNull(title, ''), ifNull(category, ''), arrayStringConcat(tags, ' '), event], ' '), word) > 0,
    splitByWhitespace({search:String})
)`;

const COUNTS = `SELECT ${EVENT_LISTS.map((list) => `countIf(has_words AND ${IS_LISTED[list]})`).join(', ')}, count()
FROM (SELECT open, closes_at, ${HAS_WORDS} AS has_words FROM events)`;

/** Prices as among the movers: of the last trade by the order book stream, where that has one; else by event search. */
const LEADING = `SELECT event, if(count() = 1, '', argMax(outcome_name, yes)) AS outcome, '' AS basis, max(yes) AS price, CAST(NULL, 'Nullable(Int64)') AS ended_ms
    FROM
    (
        SELECT
            markets.event AS event,
            ifNull(markets.name, markets.market) AS outcome_name,
            if(latest_ticks.last > 0 AND latest_ticks.last < 1, latest_ticks.last, markets.yes_price) AS yes
        FROM markets
        LEFT JOIN latest_ticks USING (market)
    )
    GROUP BY event`;
const OUTCOME: Readonly<Record<EventListName, string>> = {
  open: LEADING,
  closing: LEADING,
  resolved: `SELECT
        event,
        multiIf(
            countIf(resolution = 'yes') > 0, arrayStringConcat(arraySort(groupArrayIf(ifNull(name, market), resolution = 'yes')), ', '),
            countIf(resolution = 'void') > 0, 'void',
            countIf(resolution = 'unresolved') = 0, 'No',
            ''
        ) AS outcome,
        arrayStringConcat(arraySort(groupUniqArrayIf(resolutions.basis, resolutions.basis != 'none')), ', ') AS basis,
        CAST(NULL, 'Nullable(Float64)') AS price,
        toUnixTimestamp64Milli(max(last_received_at)) AS ended_ms
    FROM resolutions
    LEFT JOIN (SELECT market, toNullable(received_at) AS last_received_at FROM latest_ticks) AS ticks USING (market)
    GROUP BY event`,
};

const ORDER: Readonly<Record<EventListName, string>> = {
  open: 'volume_24h DESC NULLS LAST, event',
  closing: 'closes_at, event',
  resolved: 'last_seen_at DESC, event',
};

const eventsSql = (list: EventListName): string => `SELECT
    event, ifNull(title, event), ifNull(category, ''), length(markets), toUnixTimestamp64Milli(closes_at), volume_24h, outcome, basis, price, ended_ms
FROM
(
    SELECT event, title, category, markets, closes_at, volume_24h, last_seen_at
    FROM events
    WHERE ${IS_LISTED[list]} AND ${HAS_WORDS}
    ORDER BY ${ORDER[list]}
    LIMIT ${MAX_EVENTS}
) AS listed
LEFT JOIN (${OUTCOME[list]}) AS outcomes USING (event)
ORDER BY ${ORDER[list]}`;

/** A price of the last trade says nothing more where it is known how the market was resolved. */
const MOVERS = `SELECT event, market, ifNull(title, event), ifNull(name, market), price_now, price_before
FROM movers(window_seconds = 86400)
WHERE change != 0 AND market GLOBAL NOT IN (SELECT market FROM resolutions WHERE resolution != 'unresolved')
ORDER BY abs(change) DESC, market
LIMIT ${MAX_MOVERS}`;

const text = (value: unknown): string => String(value ?? '');
const numberOf = (value: unknown): number | null => (value === null || value === undefined ? null : Number(value));

/** The queries of the first page; each is asked at most every few seconds, however many pages are open. */
export class FirstPage {
  #hasEvents = false;
  #hasMovers = false;

  constructor(
    private readonly database: ReaderDatabase,
    private readonly pool: QueryPool,
  ) {}

  async events({ list, search }: FirstPageRequest, signal: AbortSignal): Promise<EventListing> {
    const keptMs = this.#hasEvents ? KEPT_MS : KEPT_EMPTY_MS;
    const [counts, events] = await Promise.all([
      this.#ask(COUNTS, { search }, keptMs, signal),
      this.#ask(eventsSql(list), { search }, keptMs, signal),
    ]);
    const [open = 0, closing = 0, resolved = 0, all = 0] = (counts.data[0] ?? []).map(Number);
    this.#hasEvents = all > 0;
    return {
      counts: { open, closing, resolved },
      hasEvents: this.#hasEvents,
      events: events.data.map(
        ([event, title, category, markets, closesAt, volume, outcome, basis, price, endedAt]) => ({
          event: text(event),
          title: text(title),
          category: text(category),
          markets: Number(markets),
          closesAt: numberOf(closesAt),
          volume24h: numberOf(volume),
          outcome: text(outcome),
          basis: text(basis),
          price: numberOf(price),
          endedAt: numberOf(endedAt),
        }),
      ),
    };
  }

  async movers(signal: AbortSignal): Promise<readonly Mover[]> {
    const { data } = await this.#ask(MOVERS, {}, this.#hasMovers ? KEPT_MS : KEPT_EMPTY_MS, signal);
    this.#hasMovers = data.length > 0;
    return data.map(([event, market, title, name, price, before]) => ({
      event: text(event),
      market: text(market),
      title: text(title),
      name: text(name),
      price: Number(price),
      before: Number(before),
    }));
  }

  #ask(
    sql: string,
    parameters: Readonly<Record<string, string>>,
    keepMs: number,
    signal: AbortSignal,
  ): Promise<CompactResult> {
    const query = { sql, parameters };
    return this.pool.run(JSON.stringify(query), keepMs, signal, (abort) =>
      ofExistingTables(this.database.query(query, abort)),
    );
  }
}
