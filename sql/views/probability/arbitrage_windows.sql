-- Between which two markets of an event did the quotes allow arbitrage, when and for how long?
--
--   SELECT * FROM arbitrage_windows(from_at = '2026-01-05', to_at = '2026-01-06') ORDER BY seconds DESC
--
-- Of two markets of one event at most one can win, if the outcomes exclude each other (the exchange does not state whether that is so).
-- Selling YES of both earns bid + other bid and costs at most 1 USDC: a sum above 1 is a profit. One row per pair and period in which
--   profit = bid + other bid - 1 > 0
-- from the tick that began it to the tick that ended it, to the resolution of one of them, or to to_at. Books that are crossed
-- (bid above ask) have no bid. Quotes have no size, and fees are not counted. A quote is valid until the next one, also in a gap:
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
        SELECT event, market, other_market, min(state.1) AS begins_at, max(state.2) AS ends_at, max(state.3) AS max_profit
        FROM
        (
            SELECT
                event,
                pair.1 AS market,
                pair.2 AS other_market,
                -- (time, _offset, _index, whether it is of the other market, bid)
                arraySort(arrayConcat(
                    arrayMap(quote -> (quote.1, quote.2, quote.3, false, quote.4), pair.3),
                    arrayMap(quote -> (quote.1, quote.2, quote.3, true, quote.4), pair.4)
                )) AS quotes,
                -- -1 until the first quote.
                arrayFill(bid -> bid >= 0, arrayMap(quote -> if(quote.4, -1, quote.5), quotes)) AS bids,
                arrayFill(bid -> bid >= 0, arrayMap(quote -> if(quote.4, quote.5, -1), quotes)) AS other_bids,
                arrayPushBack(arrayPopFront(quotes.1), least(now64(6, 'UTC'), parseDateTime64BestEffort({to_at:String}, 6, 'UTC'))) AS next_times,
                arrayFilter(
                    state -> state.2 > state.1,
                    arrayMap((begins, ends, bid, other_bid) -> (greatest(begins, parseDateTime64BestEffort({from_at:String}, 6, 'UTC')), ends, bid + other_bid - 1), quotes.1, next_times, bids, other_bids)
                ) AS states,
                -- The sum of two prices in cents may be off by some 1e-17.
                arrayMap(state -> state.3 > 1e-9, states) AS open,
                arrayCumSum(arrayMap((is_open, was_open) -> is_open AND NOT was_open, open, arrayPopBack(arrayPushFront(open, false)))) AS islands
            FROM
            (
                SELECT
                    event,
                    groupArray((market, quotes, highest)) AS markets,
                    -- Pairs whose bids can add up to more than 1, each with the quotes that matter: where the bid and the highest
                    -- other one add up to more than 1, and the quote that ends that.
                    arrayJoin(arrayFlatten(arrayMap(
                        one -> arrayMap(
                            other -> (
                                one.1,
                                other.1,
                                arrayFilter((quote, before) -> greatest(quote.4, before) + other.3 > 1 + 1e-9, one.2, arrayPushFront(arrayPopBack(one.2.4), 0.)),
                                arrayFilter((quote, before) -> greatest(quote.4, before) + one.3 > 1 + 1e-9, other.2, arrayPushFront(arrayPopBack(other.2.4), 0.))
                            ),
                            arrayFilter(other -> other.1 > one.1 AND one.3 + other.3 > 1 + 1e-9, markets)
                        ),
                        markets
                    ))) AS pair
                FROM
                (
                    -- The changes of the bid: (time, _offset, _index, bid), 0 where there is none.
                    SELECT
                        CAST(ticks.event, 'String') AS event,
                        CAST(ticks.market, 'String') AS market,
                        max(quote.4) AS highest,
                        arraySort(groupArray(quote)) AS all_quotes,
                        arrayFilter((own, before) -> own.4 != before, all_quotes, arrayPushFront(arrayPopBack(all_quotes.4), -1.)) AS quotes
                    FROM
                    (
                        SELECT event, market, (price_ticks.received_at, `_offset`, `_index`, if(is_resolution OR bid IS NULL OR bid > ask, 0., assumeNotNull(toFloat64(bid)))) AS quote
                        FROM {database}.price_ticks
                        WHERE price_ticks.received_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC') AND price_ticks.received_at < parseDateTime64BestEffort({to_at:String}, 6, 'UTC') AND NOT repeated
                        UNION ALL
                        SELECT
                            event,
                            market,
                            (parseDateTime64BestEffort({from_at:String}, 6, 'UTC') - toIntervalMicrosecond(1), toUInt64(0), toUInt32(0), argMax(if(is_resolution OR bid IS NULL OR bid > ask, 0., assumeNotNull(toFloat64(bid))), (price_ticks.received_at, `_offset`, `_index`))) AS quote
                        FROM {database}.price_ticks
                        WHERE price_ticks.received_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC') - toIntervalDay(7) AND price_ticks.received_at < parseDateTime64BestEffort({from_at:String}, 6, 'UTC') AND NOT repeated
                        GROUP BY event, market
                    ) AS ticks
                    GROUP BY ticks.event, ticks.market
                )
                GROUP BY event
            )
        )
        ARRAY JOIN states AS state, open AS is_open, islands AS island
        WHERE is_open
        GROUP BY event, market, other_market, island
    ) AS islands USING (event)
);
