import { EVENT_STREAM_TABLES, EVENT_STREAMS } from '../core/index.js';
import { POLLED_TABLES, polledRanges } from './polled-coverage.js';
import { array, list, text } from './sql-text.js';

/** Cause of the range in which records of a current subscription may be in transit. */
const AFTER_HEARTBEAT = 'after the last heartbeat';

/** The tables of `coverage` that streams fill. */
export const COVERED_STREAM_TABLES: readonly string[] = Object.values(EVENT_STREAM_TABLES);

/** SQL of the stream that fills a table of `coverage`. */
export const STREAM_OF_TABLE = `transform(table, ${array(COVERED_STREAM_TABLES)}, ${array(EVENT_STREAMS)}, '')`;

/** The tables that have their observed periods in `coverage`. */
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
      SELECT transform(stream, ${array(EVENT_STREAMS)}, ${array(COVERED_STREAM_TABLES)}, '') AS table, event, market, state, range_begins, range_ends, cause
      FROM (${streamRanges()})
      UNION ALL ${polledRanges()}
    )
    ARRAY JOIN arrayMap(number -> toDate32(range_begins, 'UTC') + number, range(toUInt32(1 + dateDiff('day', range_begins, range_ends, 'UTC')))) AS day
  )
  WHERE begins_at < ends_at AND ${condition}`;

/**
 * The ranges of each event on each stream, not divided into days. All of them come from one read of `event_lifetimes`: two
 * reads of a running instance have different last heartbeats, so that ranges of both may overlap.
 */
function streamRanges(): string {
  return `
    SELECT stream, event, part.1 AS market, part.2 AS state, part.3 AS range_begins, part.4 AS range_ends, part.5 AS cause
    FROM
    (
      SELECT stream, event, span, backfills
      FROM
      (
        SELECT stream, event, arrayJoin(${spans()}) AS span
        FROM event_lifetimes WHERE stream IN ${list(EVENT_STREAMS)}
      ) AS lifetimes
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
    )
    ARRAY JOIN ${spanParts()} AS part`;
}

/** The observed ranges of an event and what is between them, as (state, begin, end, cause); the gaps are those of `event_gaps`. */
function spans(): string {
  // Only the range of a current subscription has no cause.
  return `arrayConcat(
    arrayMap(range -> ('observed', range.1, range.2, ''), observed_ranges),
    arrayFilter(span -> span.2 < span.3, arrayMap(
      (begins, ends, cause) -> (
        if(cause IN ('', 'not yet subscribed'), 'unknown', 'missing'), begins, ends, if(cause = '', ${text(AFTER_HEARTBEAT)}, cause)
      ),
      arrayPushFront(arrayMap(range -> range.2, observed_ranges), open_from),
      arrayPushBack(arrayMap(range -> range.1, observed_ranges), open_to),
      arrayPushFront(arrayMap(range -> range.3, observed_ranges), 'not yet subscribed')
    )))`;
}

/** The parts of a span as (market, state, begin, end, cause); those of each market if history was fetched for any of them. */
function spanParts(): string {
  const clipped =
    'arrayMap(f -> (greatest(f.1, span.2), least(f.2, span.3)), arrayFilter(f -> f.1 < span.3 AND f.2 > span.2, backfill.2))';
  const between = `arrayZip(arrayPushFront(arrayMap(f -> f.2, ${clipped}), span.2), arrayPushBack(arrayMap(f -> f.1, ${clipped}), span.3))`;
  const ofMarket = `arrayConcat(
    arrayMap(f -> (backfill.1, 'backfilled', f.1, f.2, ''), ${clipped}),
    arrayMap(f -> (backfill.1, span.1, f.1, f.2, span.4), arrayFilter(f -> f.1 < f.2, ${between})))`;
  const fetched = `stream = 'chance' AND span.1 != 'observed' AND span.4 != ${text(AFTER_HEARTBEAT)}
    AND arrayExists(backfill -> arrayExists(f -> f.1 < span.3 AND f.2 > span.2, backfill.2), backfills)`;
  return `if(${fetched}, arrayFlatten(arrayMap(backfill -> ${ofMarket}, backfills)), [('', span.1, span.2, span.3, span.4)])`;
}
