-- Of the markets priced at each cent before their close, what fraction was resolved YES?
--
-- One row per weighting, horizon and basis of calibration_forecasts, and cent c of the forecast: [c / 100, (c + 1) / 100), so exactly 0.07
-- is in bin 7, and prices are rounded to 6 decimals for the choice of the bin only. Basis any: markets of both bases.
--   forecast = sum(weight × forecast) / sum(weight);  win_rate = sum(weight × result) / sum(weight). Calibrated prices have equal ones.
-- win_rate_lower and win_rate_upper are a 95 % interval, clustered by event, because markets of one event are not independent. With the
-- sums W_g of the weights and S_g of weight × result of each of G events:
--   variance = G / (G - 1) × sum((S_g - win_rate × W_g)²) / W²;  n = win_rate × (1 - win_rate) / variance, or G where that is 0
--   the interval is that of Wilson for n observations. From fewer than 10 events there is none.
-- Bins with fewer than 30 markets have no win rate, only their number of markets; nor have the bins of a horizon where the missing
-- fraction of markets is above 0.2 (calibration_scores).
CREATE OR REPLACE VIEW {database}.calibration_curve
(
    `weighting` String COMMENT 'time or trades, as in calibration_forecasts',
    `horizon` String COMMENT 'Time before the close: 1 h, 6 h, 1 d, 3 d, 7 d or 30 d',
    `horizon_seconds` UInt32 COMMENT 'The same, seconds',
    `basis` String COMMENT 'How the resolutions are known: payout, final chance (inferred), or any (both)',
    `cent` UInt16 COMMENT 'Lower edge of the bin, inclusive, in cents: 0 to 99',
    `markets` UInt64 COMMENT 'Number of markets of the bin',
    `events` UInt64 COMMENT 'Number of their events: markets of one event are not independent',
    `weight` UInt64 COMMENT 'Sum of the weights: number of markets, or of trades',
    `missing` Float64 COMMENT 'Fraction of the markets of this horizon whose forecast is missing, 0 to 1',
    `state` String COMMENT 'scored; too few: fewer than 30 markets in the bin; too many missing: more than 0.2 of the horizon',
    `forecast` Float64 COMMENT 'Mean forecast of the bin, 0 to 1',
    `win_rate` Nullable(Float64) COMMENT 'Fraction that was resolved YES, 0 to 1; NULL unless scored',
    `win_rate_lower` Nullable(Float64) COMMENT 'Lower bound of the 95 % interval of win_rate, 0 to 1, clustered by event; NULL unless scored, or with fewer than 10 events',
    `win_rate_upper` Nullable(Float64) COMMENT 'Upper bound of the 95 % interval of win_rate, 0 to 1, clustered by event; NULL unless scored, or with fewer than 10 events'
)
AS
SELECT
    weighting,
    horizon,
    horizon_seconds,
    basis,
    cent,
    markets,
    events,
    weight,
    missing,
    multiIf(markets < 30, 'too few', missing > 0.2, 'too many missing', 'scored') AS state,
    arraySum(one -> one.2 * one.3, forecasts) / weight AS forecast,
    if(state = 'scored', rate, NULL) AS win_rate,
    if(state = 'scored' AND events >= 10, greatest(0, centre - half_width), NULL) AS win_rate_lower,
    if(state = 'scored' AND events >= 10, least(1, centre + half_width), NULL) AS win_rate_upper
FROM
(
    -- Each step is a subquery of its own: ClickHouse plans nested aliases of one SELECT many times slower.
    SELECT
        *,
        (rate + pow(z, 2) / (2 * independent)) / (1 + pow(z, 2) / independent) AS centre,
        z * sqrt(rate * (1 - rate) / independent + pow(z / (2 * independent), 2)) / (1 + pow(z, 2) / independent) AS half_width
    FROM
    (
        SELECT
            *,
            wins / weight AS rate,
            events / greatest(events - 1, 1) * arraySum((w, won) -> pow(won - rate * w, 2), clusters.2, clusters.3) / pow(weight, 2) AS variance,
            if(variance = 0, events, rate * (1 - rate) / variance) AS independent,
            1.959963984540054 AS z
        FROM
        (
            SELECT
                weighting,
                horizon,
                horizon_seconds,
                basis,
                cent,
                count() AS markets,
                uniqExact(event) AS events,
                sum(market_weight) AS weight,
                sum(market_weight * result) AS wins,
                sumMap([toString(event)], [toUInt64(market_weight)], [toUInt64(market_weight * result)]) AS clusters,
                -- In order: the sum of doubles depends on the order.
                arraySort(groupArray((market, ifNull(market_forecast, 0), market_weight))) AS forecasts,
                sum(countIf(cent = -1)) OVER same_horizon / sum(count()) OVER same_horizon AS missing
            FROM
            (
                SELECT
                    weighting,
                    horizon,
                    horizon_seconds,
                    arrayJoin(['any', calibration_forecasts.basis]) AS basis,
                    event,
                    market,
                    calibration_forecasts.forecast AS market_forecast,
                    calibration_forecasts.weight AS market_weight,
                    result,
                    -- In millionths: 0.29 × 100 is less than 29 in binary.
                    if(state = 'observed', least(99, intDiv(toInt64(round(ifNull(market_forecast, 0) * 1000000)), 10000)), -1) AS cent
                FROM {database}.calibration_forecasts
                WHERE calibration_forecasts.state != 'no trade'
            )
            GROUP BY weighting, horizon, horizon_seconds, basis, cent
            WINDOW same_horizon AS (PARTITION BY weighting, horizon, basis)
        )
        WHERE cent >= 0
    )
);
