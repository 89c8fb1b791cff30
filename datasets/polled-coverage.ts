import { EVENT_STREAMS, TOPICS } from '../core/index.js';
import { array, list, text } from './sql-text.js';

/** Two complete searches cover the time between them, if it is not longer. */
const MAX_SECONDS_BETWEEN_SEARCHES = 60;

/** Cause of the ranges after the first listing that no complete polls cover. */
export const NO_COMPLETE_POLL = 'no complete poll';

/** A poll whose rows are about events, with the tables that it fills. */
export interface PolledTables {
  readonly operation: string;
  readonly tables: readonly string[];
  /** SQL of the ranges that its complete polls observe, as `range_begins` and `range_ends`. @param polls SQL of its receipts */
  readonly ranges: (polls: string) => string;
  /** How long before its start, and behind its end, a poll may cover time together with another one. */
  readonly reachSeconds: number;
}

export const POLLED_TABLES: readonly PolledTables[] = [
  {
    operation: 'event-search',
    tables: ['event_observations', 'market_observations'],
    ranges: searchRanges,
    reachSeconds: MAX_SECONDS_BETWEEN_SEARCHES,
  },
  { operation: 'activity', tables: ['activity_records'], ranges: historyRanges, reachSeconds: 86_400 },
];

/** A list of what is now: each complete poll covers its own time, and two of them that between them, if it is short. */
function searchRanges(polls: string): string {
  const order = 'ORDER BY started_at, finished_at ROWS BETWEEN UNBOUNDED PRECEDING';
  return `
    SELECT min(started_at) AS range_begins, max(finished_at) AS range_ends
    FROM
    (
      SELECT started_at, finished_at, sum(is_first) OVER (${order} AND CURRENT ROW) AS number
      FROM
      (
        SELECT started_at, finished_at,
          started_at > max(finished_at) OVER (${order} AND 1 PRECEDING) + INTERVAL ${MAX_SECONDS_BETWEEN_SEARCHES} SECOND AS is_first
        FROM ${polls} WHERE outcome = 'complete'
      )
    )
    GROUP BY number`;
}

/** Each poll of a history reads everything since the previous poll: two complete ones cover the time between their starts. */
function historyRanges(polls: string): string {
  const order = 'ORDER BY started_at, finished_at ROWS BETWEEN';
  return `
    SELECT min(previous_at) AS range_begins, max(started_at) AS range_ends
    FROM
    (
      SELECT *, sum(NOT is_observed) OVER (${order} UNBOUNDED PRECEDING AND CURRENT ROW) AS number
      FROM
      (
        SELECT started_at, finished_at, lagInFrame(started_at) OVER before AS previous_at,
          outcome = 'complete' AND lagInFrame(toString(outcome)) OVER before = 'complete' AS is_observed
        FROM ${polls} WHERE outcome != 'failed' WINDOW before AS (${order} 1 PRECEDING AND CURRENT ROW)
      )
    )
    WHERE is_observed
    GROUP BY number`;
}

/**
 * The ranges of each event in the tables that polls fill: observed where complete polls cover them, else unknown, as before
 * event search first listed the event.
 */
export const polledRanges = (): string =>
  POLLED_TABLES.map(
    (polled) => `
    SELECT arrayJoin(${array(polled.tables)}) AS table, event, '' AS market, part.1 AS state, part.2 AS range_begins, part.3 AS range_ends, part.4 AS cause
    FROM
    (
      SELECT lifetimes.event AS event, open_from, open_to, ${listedFrom(polled)} AS listed_from,
        arrayFilter(
          range -> range.1 < range.2,
          arrayMap(range -> (greatest(range.1, listed_from), least(range.2, open_to)), (SELECT arraySort(groupArray((range_begins, range_ends))) FROM (${polled.ranges(receipts(polled))})))
        ) AS observed
      FROM
      (
        SELECT event, min(open_from) AS open_from, max(open_to) AS open_to
        FROM event_lifetimes WHERE stream IN ${list(EVENT_STREAMS)} GROUP BY event
      ) AS lifetimes
      LEFT JOIN (SELECT event, first_seen_at FROM events) AS listed ON listed.event = lifetimes.event
    )
    ARRAY JOIN arrayFilter(part -> part.2 < part.3, arrayConcat(
      [('unknown', open_from, listed_from, 'not yet listed')],
      arrayMap(range -> ('observed', range.1, range.2, ''), observed),
      arrayMap(
        (begins, ends) -> ('unknown', begins, ends, ${text(NO_COMPLETE_POLL)}),
        arrayPushFront(arrayMap(range -> range.2, observed), listed_from),
        arrayPushBack(arrayMap(range -> range.1, observed), open_to)
      )
    )) AS part`,
  ).join(' UNION ALL ');

/** A history may have what happened before the event was listed. */
const listedFrom = ({ operation }: PolledTables): string =>
  operation === 'activity'
    ? 'open_from'
    : "if(first_seen_at = toDateTime64(0, 6, 'UTC'), open_to, least(greatest(first_seen_at, open_from), open_to))";

/** The receipts of an operation; a poll whose records were lost is incomplete. */
function receipts({ operation }: PolledTables): string {
  const topic = operation === 'activity' ? TOPICS.account : TOPICS.reference;
  const lost = `(SELECT groupArray((begins_at, ends_at)) FROM lost_periods WHERE topic = ${text(topic)})`;
  return `(
    SELECT started_at, finished_at,
      if(arrayExists(lost -> lost.1 <= finished_at AND lost.2 >= started_at, ${lost}), 'incomplete', toString(outcome)) AS outcome
    FROM polls WHERE operation = ${text(operation)}
  )`;
}
