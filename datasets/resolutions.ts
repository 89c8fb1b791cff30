/** Last chances per market and day of receipt; of one source, those of the greatest `position` count. */
const DAILY = `
  SELECT market, toDate(received_at, 'UTC') AS day, 1 AS rank, max((received_at, received_at, _offset, _index)) AS position,
    argMax((last IN (0, 1) AND bid IS NULL AND ask IS NULL, last), (received_at, _offset, _index)) AS state, max(received_at) AS at
  FROM price_ticks WHERE market IN resolved GROUP BY market, day
  UNION ALL ${chancesOf('chance_points', 2)}
  UNION ALL ${chancesOf('chance_history_points', 3)}`;

function chancesOf(table: string, rank: number): string {
  return `
  SELECT market, toDate(received_at, 'UTC') AS day, ${rank} AS rank, max((occurred_at, received_at, _offset, _index)) AS position,
    argMax((chance IN (0, 1), chance), (occurred_at, received_at, _offset, _index)) AS state, max(received_at) AS at
  FROM ${table} WHERE market IN resolved GROUP BY market, day`;
}

/** (final, chance, received_at, rank) of a source at the end of a day. */
const atEndOfDay = (rank: number): string =>
  `tupleConcat(argMaxIf(state, position, rank = ${rank}) OVER days, (maxIf(at, rank = ${rank}) OVER days, ${rank}))`;

/** What the columns say. */
export const RESOLUTION_COMMENTS = {
  market:
    'Market ID (outcome ID). A market that moves, and has another final chance on a later day, has a row on each of these days: the last one counts',
  event: 'Event ID; empty when unknown',
  name: 'Name of the market at the end of the day; NULL or empty when unknown',
  resolution: 'yes or no: what the final chance says',
  chance: 'The final chance: 1 or 0',
  known_at: 'When it was received, by the clock of the recorder',
} as const;

/**
 * Markets whose last chance was final at the end of a UTC day, and was not on the day before: the chance of the view
 * `market_chances`, from what was received up to the end of the day. So a chance that moves again later changes no row of
 * an earlier day, and raw records up to a day make the same rows.
 * @param condition SQL about `known_at`
 */
export const resolutionsQuery = (condition: string): string => `
  WITH resolved AS
  (
    SELECT market FROM
    (
      SELECT market, received_at AS known_at FROM price_ticks WHERE last IN (0, 1) AND bid IS NULL AND ask IS NULL
      UNION ALL SELECT market, received_at AS known_at FROM chance_points WHERE chance IN (0, 1)
      UNION ALL SELECT market, received_at AS known_at FROM chance_history_points WHERE chance IN (0, 1)
    )
    WHERE ${condition}
  )
  SELECT known.market AS market, listed.event AS event, listed.name AS name, if(chance = 1, 'yes', 'no') AS resolution, chance, known_at
  FROM
  (
    SELECT toString(market) AS market, best.1 AS is_final, best.2 AS chance, best.3 AS known_at, day, toDateTime64(day + 1, 6, 'UTC') AS day_ends_at,
      lagInFrame((is_final, chance)) OVER (PARTITION BY market ORDER BY day ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
    FROM
    (
      SELECT DISTINCT market, day, arraySort(one -> (NOT one.1, one.4), arrayFilter(one -> one.3 > 0, sources))[1] AS best
      FROM
      (
        SELECT market, day, [${[1, 2, 3].map(atEndOfDay).join(', ')}] AS sources
        FROM (${DAILY})
        WINDOW days AS (PARTITION BY market ORDER BY day RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      )
    )
  ) AS known
  ASOF LEFT JOIN (SELECT toString(market) AS market, toString(event) AS event, name, received_at FROM market_observations) AS listed
    ON known.market = listed.market AND known.day_ends_at > listed.received_at
  WHERE is_final AND toDate(known_at, 'UTC') = day AND before != (is_final, chance) AND ${condition}`;
