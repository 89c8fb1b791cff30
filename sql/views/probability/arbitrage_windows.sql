-- Between which two markets of an event did the quotes allow arbitrage, when and for how long?
--
--   SELECT * FROM arbitrage_windows(from_at = '2026-01-05', to_at = '2026-01-06') ORDER BY seconds DESC
--
-- Of two markets of one event at most one can win, if the outcomes exclude each other (the exchange does not state whether that is so).
-- Selling YES of both earns bid + other bid and costs at most 1 USDC: a sum above 1 is a profit. One row per pair and period in which
--   profit = bid + other bid - 1 > 0
-- from the tick that began it to the tick that ended it, to the resolution of one of them, or to to_at. Books that are crossed
-- (bid above ask) have no bid. Quotes have no size, fees are not counted. A quote is valid until the next one, also in a gap:
-- observed says which part of the time was observed on the order book stream. Quotes before from_at are searched in the 7 days before.
CREATE OR REPLACE VIEW {database}.arbitrage_windows
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID, the smaller one of the pair',
    `other_market` String COMMENT 'Market ID of the other one',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'When it began, or from_at, by our clock',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'When it ended, or to_at, by our clock',
    `seconds` Float64 COMMENT 'How long it was, seconds',
    `max_profit` Float64 COMMENT 'Largest bid + other bid - 1 within it, USDC per share of each market',
    `observed` Float64 COMMENT 'Fraction of that time in which the event was observed, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of that time that was fetched from history, 0 to 1: always 0',
    `missing` Float64 COMMENT 'Fraction of that time in which the event was not observed, 0 to 1'
)
AS
SELECT
    event,
    market,
    other_market,
    begins_at,
    ends_at,
    micros / 1e6 AS seconds,
    max_profit,
    least(1, observed_micros / micros) AS observed,
    0. AS backfilled,
    1 - least(1, observed_micros / micros) AS missing
FROM
(
    SELECT
        event,
        market,
        other_market,
        begins_at,
        ends_at,
        max_profit,
        dateDiff('microsecond', begins_at, ends_at) AS micros,
        arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, begins_at), least(range.2, ends_at))), ranges) AS observed_micros
    FROM
    -- On the left of the join, so that ClickHouse computes it only for the events that are needed.
    (
        SELECT event, groupArray((begins_at, ends_at)) AS ranges
        FROM {database}.observed_ranges
        WHERE stream = 'order-book'
        GROUP BY event
    ) AS observed
    RIGHT JOIN
    (
        SELECT event, market, other_market, min(changed_at) AS begins_at, max(next_at) AS ends_at, max(profit) AS max_profit
        FROM
        (
            SELECT
                *,
                sum(is_first) OVER (PARTITION BY event, market, other_market ORDER BY changed_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
            FROM
            (
                SELECT
                    *,
                    -- The sum of two prices in cents may be off by some 1e-17.
                    profit > 1e-9 AS is_open,
                    profit > 1e-9 AND NOT (lagInFrame(profit, 1, 0.) OVER (PARTITION BY event, market, other_market ORDER BY changed_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) > 1e-9) AS is_first
                FROM
                (
                    SELECT
                        event,
                        market,
                        other_market,
                        greatest(changed_at, parseDateTime64BestEffort({from_at:String}, 6, 'UTC')) AS changed_at,
                        leadInFrame(changed_at, 1, least(now64(6, 'UTC'), parseDateTime64BestEffort({to_at:String}, 6, 'UTC'))) OVER (PARTITION BY event, market, other_market ORDER BY changed_at ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS next_at,
                        ifNull(bid + other_bid - 1, 0) AS profit
                    FROM
                    (
                        SELECT event, market, other_market, moments.changed_at AS changed_at, toNullable(quotes.bid) AS bid, others.bid AS other_bid
                        FROM
                        (
                            SELECT event, pair.1 AS market, pair.2 AS other_market, arrayJoin(arraySort(arrayDistinct(arrayConcat(pair.3, pair.4)))) AS changed_at
                            FROM
                            (
                                SELECT
                                    event,
                                    arraySort(groupArray((market, times))) AS markets,
                                    arrayJoin(arrayFlatten(arrayMap(i -> arrayMap(j -> (markets[i].1, markets[j].1, markets[i].2, markets[j].2), range(i + 1, length(markets) + 1)), arrayEnumerate(markets)))) AS pair
                                FROM
                                (
                                    SELECT CAST(any(event), 'String') AS event, CAST(market, 'String') AS market, groupArray(price_ticks.received_at) AS times
                                    FROM {database}.price_ticks
                                    WHERE price_ticks.received_at >= parseDateTimeBestEffort({from_at:String}, 'UTC') - toIntervalDay(7) AND price_ticks.received_at < parseDateTimeBestEffort({to_at:String}, 'UTC') AND NOT repeated
                                    GROUP BY market
                                )
                                GROUP BY event
                            )
                        ) AS moments
                        ASOF INNER JOIN
                        (
                            SELECT CAST(market, 'String') AS market_of, price_ticks.received_at AS changed_at, argMax(tuple(if(is_resolution OR price_ticks.bid > price_ticks.ask, NULL, CAST(price_ticks.bid, 'Nullable(Float64)'))), (`_offset`, `_index`)).1 AS bid
                            FROM {database}.price_ticks
                            WHERE price_ticks.received_at >= parseDateTimeBestEffort({from_at:String}, 'UTC') - toIntervalDay(7) AND price_ticks.received_at < parseDateTimeBestEffort({to_at:String}, 'UTC') AND NOT repeated
                            GROUP BY market, changed_at
                        ) AS quotes ON moments.market = quotes.market_of AND moments.changed_at >= quotes.changed_at
                        ASOF INNER JOIN
                        (
                            SELECT CAST(market, 'String') AS market_of, price_ticks.received_at AS changed_at, argMax(tuple(if(is_resolution OR price_ticks.bid > price_ticks.ask, NULL, CAST(price_ticks.bid, 'Nullable(Float64)'))), (`_offset`, `_index`)).1 AS bid
                            FROM {database}.price_ticks
                            WHERE price_ticks.received_at >= parseDateTimeBestEffort({from_at:String}, 'UTC') - toIntervalDay(7) AND price_ticks.received_at < parseDateTimeBestEffort({to_at:String}, 'UTC') AND NOT repeated
                            GROUP BY market, changed_at
                        ) AS others ON moments.other_market = others.market_of AND moments.changed_at >= others.changed_at
                    )
                )
            )
        )
        WHERE is_open AND next_at > changed_at
        GROUP BY event, market, other_market, island
    ) AS islands USING (event)
);
