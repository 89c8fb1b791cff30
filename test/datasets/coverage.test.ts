import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coverageQuery } from '../../datasets/coverage.js';
import { FileServer } from '../../datasets/file-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { signal } = new AbortController();

/** Another time in each subquery. */
const NOW = `(toDateTime64('2026-01-04 12:00:00', 6, 'UTC') + toIntervalMicrosecond(toUnixTimestamp64Micro(now64(6)) % 1000000))`;

/** What coverage reads. As in a running instance, each read of `event_lifetimes` has another last heartbeat. */
const VIEWS: Readonly<Record<string, string>> = {
  event_lifetimes: `SELECT arrayJoin(['order-book', 'chance']) AS stream, 'e' AS event, ${NOW} AS open_to, open_to - 300 AS open_from, true AS live,
      [(open_from + 10, open_from + 100, 'stale: silence'), (open_from + 130, open_to - 2, '')] AS observed_ranges`,
  event_gaps: `SELECT stream, event,
      [(open_from, observed_ranges[1].1, 'not yet subscribed'), (observed_ranges[1].2, observed_ranges[2].1, 'stale: silence')] AS missed_ranges
    FROM event_lifetimes`,
  markets: "SELECT 'e' AS event, arrayJoin(['m0', 'm1']) AS market",
  backfilled_ranges: `SELECT 'm0' AS market, ${NOW} - 195 AS begins_at, begins_at + 5 AS ends_at`,
  events: `SELECT 'e' AS event, ${NOW} - 290 AS first_seen_at`,
  polls: `SELECT 'event-search' AS operation, ${NOW} AS started_at, started_at AS finished_at, 'failed' AS outcome`,
  lost_periods: `SELECT 'none' AS topic, ${NOW} AS begins_at, begins_at AS ends_at`,
};

const ORDER_BOOK = [
  'unknown not yet subscribed',
  'observed ',
  'missing stale: silence',
  'observed ',
  'unknown after the last heartbeat',
];
const CHANCES = ORDER_BOOK.toSpliced(2, 1, 'missing stale: silence', 'backfilled ', 'missing stale: silence');

describe('the coverage of a running instance', () => {
  let server: FileServer;
  beforeAll(async () => {
    server = await FileServer.start({ folder: temporaryFolder(), unconfined: false }, signal);
    for (const [name, query] of Object.entries(VIEWS)) {
      await server.source.result(`CREATE VIEW ${name} AS ${query}`, {}, signal);
    }
  });
  afterAll(() => server?.close());

  it('has ranges that end where the next one begins, although time passes while it is computed', async () => {
    const tables = await server.source.rows(
      `SELECT table, arrayMap(range -> concat(range.3, ' ', range.4), ranges) AS states,
         arrayMap((range, next) -> toFloat64(next.1 - range.2), arrayPopBack(ranges), arrayPopFront(ranges)) AS between
       FROM
       (
         SELECT table, arraySort(groupArray((begins_at, ends_at, state, cause))) AS ranges
         FROM (${coverageQuery('true')}) WHERE market != 'm1' AND table IN ('price_ticks', 'chance_points') GROUP BY table
       )
       ORDER BY table`,
      signal,
    );
    expect(tables).toEqual([
      { table: 'chance_points', states: CHANCES, between: [0, 0, 0, 0, 0, 0] },
      { table: 'price_ticks', states: ORDER_BOOK, between: [0, 0, 0, 0] },
    ]);
  });
});
