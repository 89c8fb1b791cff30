-- What does it cost to buy every outcome of an event, and what does selling every outcome return?
--
-- Over the latest prices of the markets of each open event:
--   overround  = sum of the asks - 1: what a buyer of YES in every market pays above the 1 USDC that one of them returns
--   underround = 1 - sum of the bids: what a seller of YES in every market receives below it
-- An event of one market has two outcomes, YES and NO: buying both costs ask + (1 - bid), so both figures are ask - bid.
-- A negative figure is an arbitrage. Both figures assume that exactly one market of the event can win; the exchange does
-- not state whether that is so. NULL where a market has no such price or a crossed book (bid above ask).
CREATE OR REPLACE VIEW {database}.event_overround
(
    `event` String COMMENT 'Event ID',
    `title` Nullable(String) COMMENT 'Title of the event',
    `markets` UInt64 COMMENT 'Markets of the event',
    `priced_markets` UInt64 COMMENT 'Markets that have a price',
    `crossed_markets` UInt64 COMMENT 'Markets whose bid is above the ask: their bid and ask count as absent',
    `sum_of_last` Float64 COMMENT 'Sum of the prices of the last trades, in YES terms',
    `sum_of_bids` Nullable(Float64) COMMENT 'Sum of the best bids, in YES terms; NULL when a market has none or is crossed',
    `sum_of_asks` Nullable(Float64) COMMENT 'Sum of the best asks, in YES terms; NULL when a market has none or is crossed',
    `overround` Nullable(Float64) COMMENT 'USDC per share of every market: sum_of_asks - 1; of an event of one market ask - bid',
    `underround` Nullable(Float64) COMMENT 'USDC per share of every market: 1 - sum_of_bids; of an event of one market ask - bid',
    `oldest_at` DateTime64(6, 'UTC') COMMENT 'When the oldest of the prices was received'
)
AS
SELECT
    event,
    any(events.title) AS title,
    any(length(events.markets)) AS markets,
    count() AS priced_markets,
    countIf(crossed) AS crossed_markets,
    -- Sorted: the sum of doubles depends on the order.
    arraySum(arraySort(groupArray(last))) AS sum_of_last,
    if(count(bid) = greatest(priced_markets, markets), arraySum(arraySort(groupArray(bid))), NULL) AS sum_of_bids,
    if(count(ask) = greatest(priced_markets, markets), arraySum(arraySort(groupArray(ask))), NULL) AS sum_of_asks,
    if(greatest(priced_markets, markets) = 1, sum_of_asks - sum_of_bids, sum_of_asks - 1) AS overround,
    if(greatest(priced_markets, markets) = 1, sum_of_asks - sum_of_bids, 1 - sum_of_bids) AS underround,
    min(received_at) AS oldest_at
FROM
(
    SELECT
        event,
        last,
        crossed,
        if(crossed, NULL, prices.bid) AS bid,
        if(crossed, NULL, prices.ask) AS ask,
        received_at
    FROM {database}.latest_prices AS prices
) AS quotes
INNER JOIN
(
    SELECT event, title, markets
    FROM {database}.events
    WHERE open
) AS events USING (event)
GROUP BY event;
