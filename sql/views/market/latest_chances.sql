-- What is the last chance of every market on the chance stream?
--
-- The last live point of the chance stream by exchange time, and among points of one second the one received last. Points that were
-- fetched later are left out: chance_series has them. market_chances puts the price of the last trade first. A market without a
-- live point has no row.
CREATE OR REPLACE VIEW {database}.latest_chances
(
    `market` String COMMENT 'Market ID (outcome ID)',
    `chance` Float64 COMMENT 'Probability of YES, 0 to 1, exactly the JSON number',
    `occurred_at` DateTime64(6, 'UTC') COMMENT 'Time of the point by the exchange, which counts in whole seconds',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When it was received'
)
AS
-- A number with the order of (occurred_at, received_at, offset, index) is compared faster than they are.
SELECT
    market,
    argMax(
        chance_points.chance,
        bitShiftLeft(toUInt256(toUnixTimestamp64Micro(chance_points.occurred_at)), 128)
            + bitShiftLeft(toUInt256(toUnixTimestamp64Micro(chance_points.received_at)), 64)
            + bitShiftLeft(`_offset`, 24) + `_index`
    ) AS chance,
    max(chance_points.occurred_at) AS occurred_at,
    max((chance_points.occurred_at, chance_points.received_at)).2 AS received_at
FROM {database}.chance_points
WHERE chance_points.source IN ('last-known', 'change')
GROUP BY market;
