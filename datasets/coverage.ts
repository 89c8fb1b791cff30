import { EVENT_STREAMS } from '../core/index.js';
import { POLLED_TABLES, polledRanges } from './polled-coverage.js';
import { array, list } from './sql-text.js';

/** The table that a stream fills. */
const TABLES: Readonly<Record<(typeof EVENT_STREAMS)[number], string>> = {
  'order-book': 'price_ticks',
  chance: 'chance_points',
};

/** The tables of `coverage` that streams fill. */
export const COVERED_STREAM_TABLES: readonly string[] = Object.values(TABLES);

/** SQL of the stream that fills a table of `coverage`. */
export const STREAM_OF_TABLE = `transform(table, ${array(COVERED_STREAM_TABLES)}, ${array(Object.keys(TABLES))}, '')`;

/** The tables of which `coverage` says what was observed. */
export const COVERED_TABLES: readonly string[] = [
  ...COVERED_STREAM_TABLES,
  ...POLLED_TABLES.flatMap(({ tables }) => tables),
];

/** What the columns say. */
export const COVERAGE_COMMENTS = {
  table: 'Table that the range is about',
  event: 'Event ID',
  market: 'Market ID; empty when the range is that of all markets of the event',
  state:
    'observed: received while it happened. backfilled: fetched later from history. missing: neither. unknown: no evidence either way',
  begins_at: 'Start of the range',
  ends_at: 'End of the range, which is not in it',
  cause: 'Why it is missing or unknown; else empty',
} as const;

/**
 * One row per table, event and range of a UTC day while the event was open: observed, backfilled, missing (with its cause)
 * or unknown. The ranges of an event do not overlap and add up to the time in which it was open. `market` is empty where
 * the range is that of all its markets.
 * @param condition SQL about `begins_at`
 */
export const coverageQuery = (condition: string): string => `
  SELECT table, event, market, state, begins_at, ends_at, cause
  FROM
  (
    SELECT
      table, event, market, state, cause,
      greatest(range_begins, toDateTime64(day, 6, 'UTC')) AS begins_at,
      least(range_ends, toDateTime64(day + 1, 6, 'UTC')) AS ends_at
    FROM
    (
      SELECT transform(stream, ${array(Object.keys(TABLES))}, ${array(COVERED_STREAM_TABLES)}, '') AS table, event, market, state, range_begins, range_ends, cause
      FROM (${streamRanges()})
      UNION ALL ${polledRanges()}
    )
    ARRAY JOIN arrayMap(number -> toDate32(range_begins, 'UTC') + number, range(toUInt32(1 + dateDiff('day', range_begins, range_ends, 'UTC')))) AS day
  )
  WHERE begins_at < ends_at AND ${condition}`;

/** The ranges of each event on each stream, not divided into days. */
function streamRanges(): string {
  const streams = `stream IN ${list(EVENT_STREAMS)}`;
  return `
    SELECT stream, event, '' AS market, 'observed' AS state, observed.1 AS range_begins, observed.2 AS range_ends, '' AS cause
    FROM event_lifetimes ARRAY JOIN observed_ranges AS observed WHERE ${streams}
    UNION ALL
    SELECT stream, event, '', 'unknown', observed_ranges[-1].2, open_to, 'after the last heartbeat'
    FROM event_lifetimes WHERE ${streams} AND live AND observed_ranges[-1].2 < open_to
    UNION ALL
    SELECT
      stream, event, part.1, part.2, part.3, part.4,
      if(part.2 = 'backfilled', '', gap.3)
    FROM
    (
      SELECT stream, event, gap, backfills
      FROM event_gaps
      ARRAY JOIN missed_ranges AS gap
      LEFT JOIN
      (
        SELECT event, groupArray((market, fetched)) AS backfills
        FROM
        (
          SELECT listed.event AS event, listed.market AS market, fetched
          FROM (SELECT event, market FROM markets) AS listed
          LEFT JOIN
          (
            SELECT market, arraySort(groupArray((begins_at, ends_at))) AS fetched FROM backfilled_ranges GROUP BY market
          ) AS histories ON histories.market = listed.market
        )
        GROUP BY event
      ) AS known USING (event)
      WHERE ${streams}
    )
    ARRAY JOIN ${gapParts()} AS part`;
}

/** The parts of a gap as (market, state, begin, end); those of each market if history was fetched for any of them. */
function gapParts(): string {
  const clipped =
    'arrayMap(f -> (greatest(f.1, gap.1), least(f.2, gap.2)), arrayFilter(f -> f.1 < gap.2 AND f.2 > gap.1, backfill.2))';
  const missing = "if(gap.3 = 'not yet subscribed', 'unknown', 'missing')";
  const between = `arrayZip(arrayPushFront(arrayMap(f -> f.2, ${clipped}), gap.1), arrayPushBack(arrayMap(f -> f.1, ${clipped}), gap.2))`;
  const ofMarket = `arrayConcat(
    arrayMap(f -> (backfill.1, 'backfilled', f.1, f.2), ${clipped}),
    arrayMap(f -> (backfill.1, ${missing}, f.1, f.2), arrayFilter(f -> f.1 < f.2, ${between})))`;
  const fetched =
    "stream = 'chance' AND arrayExists(backfill -> arrayExists(f -> f.1 < gap.2 AND f.2 > gap.1, backfill.2), backfills)";
  return `if(${fetched}, arrayFlatten(arrayMap(backfill -> ${ofMarket}, backfills)), [('', ${missing}, gap.1, gap.2)])`;
}
