-- Are prices too close to 50 %, too extreme, or shifted, as forecasts of how markets are resolved?
--
-- Logistic regression of the results on the forecasts of calibration_forecasts, for every weighting, horizon and basis: over all
-- markets, by category of the event, and by size, which is the volume of the market over all users.
--   ln(P(YES) / (1 - P(YES))) = intercept + slope × ln(forecast / (1 - forecast))
-- Calibrated forecasts have slope 1 and intercept 0. A slope above 1: prices are too close to 0.5 (as with a favourite-longshot bias); below
-- 1: too extreme. An intercept above 0: YES happens more often than prices of 0.5 say.
-- Both maximise the weighted likelihood: 30 Newton steps, each at most 1, that start at 0, where the curvature of the likelihood is largest,
-- so that they do not overshoot. The 95 % intervals are clustered by event, because markets of one event are not independent: estimate ± 1.959964 × standard error, by the sandwich H⁻¹ (G / (G - 1) × sum(s_g s_gᵀ)) H⁻¹ with
-- the information H and the sum of scores s_g of each of G events. From fewer than 10 events there is none.
-- state: fitted; too few: fewer than 30 markets; too many missing: more than 0.2 of them, as in calibration_scores; not determined: all
-- results or all forecasts are equal, or a price separates the results, so that the likelihood has no maximum.
CREATE OR REPLACE VIEW {database}.calibration_regression
(
    `weighting` String COMMENT 'time or trades, as in calibration_forecasts',
    `horizon` String COMMENT 'Time before the close: 1 h, 6 h, 1 d, 3 d, 7 d or 30 d',
    `horizon_seconds` UInt32 COMMENT 'The same, seconds',
    `basis` String COMMENT 'How the resolutions are known: payout, final chance (inferred), or any (both)',
    `dimension` String COMMENT 'By what markets are grouped: all (no groups), category or size',
    `value` String COMMENT 'all: empty. category: the category, empty when absent. size: volume of the market, USDC: under 100, 100 to 1000, 1000 to 10000, 10000 or more, or unknown',
    `markets` UInt64 COMMENT 'Number of markets with an observed forecast',
    `events` UInt64 COMMENT 'Number of their events',
    `missing_markets` UInt64 COMMENT 'Number of markets whose forecast is missing',
    `missing` Float64 COMMENT 'missing_markets as a fraction of both, 0 to 1',
    `weight` UInt64 COMMENT 'Sum of the weights: number of markets, or of trades',
    `state` String COMMENT 'fitted, too few, too many missing or not determined',
    `slope` Nullable(Float64) COMMENT 'Slope, a ratio: 1 when calibrated; NULL unless fitted',
    `slope_lower` Nullable(Float64) COMMENT 'Lower bound of its 95 % interval, a ratio; NULL unless fitted, or with fewer than 10 events',
    `slope_upper` Nullable(Float64) COMMENT 'Upper bound of its 95 % interval, a ratio; NULL unless fitted, or with fewer than 10 events',
    `intercept` Nullable(Float64) COMMENT '0 when calibrated, logit; NULL unless fitted',
    `intercept_lower` Nullable(Float64) COMMENT 'Lower bound of its 95 % interval, logit; NULL unless fitted, or with fewer than 10 events',
    `intercept_upper` Nullable(Float64) COMMENT 'Upper bound of its 95 % interval, logit; NULL unless fitted, or with fewer than 10 events'
)
AS
SELECT
    weighting,
    horizon,
    horizon_seconds,
    basis,
    dimension,
    value,
    markets,
    events,
    missing_markets,
    missing_markets / (markets + missing_markets) AS missing,
    weight,
    multiIf(markets < 30, 'too few', missing_markets / (markets + missing_markets) > 0.2, 'too many missing', is_maximum, 'fitted', 'not determined') AS state,
    if(state = 'fitted', fit.2, NULL) AS slope,
    if(state = 'fitted' AND events >= 10, fit.2 - slope_width, NULL) AS slope_lower,
    if(state = 'fitted' AND events >= 10, fit.2 + slope_width, NULL) AS slope_upper,
    if(state = 'fitted', fit.1, NULL) AS intercept,
    if(state = 'fitted' AND events >= 10, fit.1 - intercept_width, NULL) AS intercept_lower,
    if(state = 'fitted' AND events >= 10, fit.1 + intercept_width, NULL) AS intercept_upper
FROM
(
    SELECT
        *,
        1.959963984540054 * sqrt(greatest(0, events / greatest(events - 1, 1) * arraySum((score, logit_score) -> pow((information_3 * score - information_2 * logit_score) / determinant, 2), event_scores, event_logit_scores))) AS intercept_width,
        1.959963984540054 * sqrt(greatest(0, events / greatest(events - 1, 1) * arraySum((score, logit_score) -> pow((information_1 * logit_score - information_2 * score) / determinant, 2), event_scores, event_logit_scores))) AS slope_width
    FROM
    (
        SELECT
            *,
            sums.3 AS information_1,
            sums.4 AS information_2,
            sums.5 AS information_3,
            if(is_maximum, sums.3 * sums.5 - sums.4 * sums.4, 1) AS determinant,
            -- The sums of each event.
            arrayReduceInRanges('sum', event_ranges, scores) AS event_scores,
            arrayReduceInRanges('sum', event_ranges, arrayMap((score, logit) -> score * logit, scores, logits)) AS event_logit_scores
        FROM
        (
            SELECT
                *,
                computed.1 AS fit,
                computed.2 AS sums,
                computed.3 AS scores,
                -- At the maximum, the next step would be none.
                markets >= 30 AND least(sums.3, sums.5, sums.3 * sums.5 - sums.4 * sums.4) > 1e-9 * weight AND abs(fit.2) < 1000
                    AND greatest(abs(sums.1), abs(sums.2)) < 1e-9 * weight AS is_maximum
            FROM
            (
                SELECT
                    *,
                    arrayMap(x -> 1 / (1 + exp(-estimated.1 - estimated.2 * x)), logits) AS probabilities,
{regression_sums} AS estimated_sums
                FROM
                (
                    SELECT
                        *,
                        -- s: the sums above, of this estimate.
                        arrayFold(
                            (estimate, step) -> arrayMap(
                                s -> arrayMap(
                                    determinant -> if(
                                        determinant > 1e-12,
                                        (
                                            estimate.1 + greatest(-1., least(1., (s.5 * s.1 - s.4 * s.2) / determinant)),
                                            estimate.2 + greatest(-1., least(1., (s.3 * s.2 - s.4 * s.1) / determinant))
                                        ),
                                        estimate
                                    ),
                                    [s.3 * s.5 - s.4 * s.4]
                                )[1],
                                arrayMap(
                                    probabilities ->
{regression_sums},
                                    [arrayMap(x -> 1 / (1 + exp(-estimate.1 - estimate.2 * x)), logits)]
                                )
                            )[1],
                            if(markets < 30, [], range(30)),
                            (toFloat64(0), toFloat64(0))
                        ) AS estimated
                    FROM
                    (
                        SELECT
                            * EXCEPT rows,
                            arrayMap(row -> row.3, rows) AS logits,
                            arrayMap(row -> row.4, rows) AS results,
                            arrayMap(row -> row.5, rows) AS weights,
                            arrayMap(row -> row.1, rows) AS row_events,
                            arrayFilter((i, event, former) -> i = 1 OR event != former, arrayEnumerate(rows), row_events, arrayPopBack(arrayPushFront(row_events, ''))) AS event_starts,
                            -- First row of each event and number of its rows.
                            arrayMap((first, next) -> (first, toUInt64(next - first)), event_starts, arrayPopFront(arrayPushBack(event_starts, length(rows) + 1))) AS event_ranges
                        FROM
                        (
                            SELECT
                                weighting,
                                horizon,
                                horizon_seconds,
                                basis,
                                dimension,
                                value,
                                countIf(state = 'observed') AS markets,
                                uniqExactIf(event, state = 'observed') AS events,
                                countIf(state = 'missing') AS missing_markets,
                                sum(market_weight) AS weight,
                                -- In one order: the sum of doubles depends on it. Event, market, logit of the forecast, result, weight.
                                arraySort(groupArrayIf((event, market, log(assumeNotNull(forecast) / (1 - assumeNotNull(forecast))), toFloat64(result), toFloat64(market_weight)), state = 'observed')) AS rows
                            FROM
                            (
                                SELECT
                                    weighting,
                                    horizon,
                                    horizon_seconds,
                                    arrayJoin(['any', forecasts.basis]) AS basis,
                                    event,
                                    forecasts.market AS market,
                                    state,
                                    forecast,
                                    result,
                                    weight AS market_weight,
                                    group.1 AS dimension,
                                    group.2 AS value
                                FROM {database}.calibration_forecasts AS forecasts
                                LEFT JOIN
                                (
                                    SELECT market, toFloat64(sum(activity_volumes.volume)) AS volume
                                    FROM {database}.activity_volumes
                                    GROUP BY market
                                ) AS volumes ON forecasts.market = volumes.market
                                ARRAY JOIN [
                                    ('all', ''),
                                    ('category', ifNull(category, '')),
                                    ('size', multiIf(ifNull((SELECT max(complete_to) FROM {database}.history_completeness WHERE operation = 'activity') < close_at, true), 'unknown', volumes.volume < 100, 'under 100', volumes.volume < 1000, '100 to 1000', volumes.volume < 10000, '1000 to 10000', '10000 or more'))
                                ] AS group
                                WHERE state != 'no trade'
                            )
                            GROUP BY weighting, horizon, horizon_seconds, basis, dimension, value
                        )
                    )
                )
            )
            -- One row, after a step of its own: else the conditions above would compute the fit again for each of their branches.
            ARRAY JOIN [(estimated, estimated_sums, arrayMap((p, y, w) -> w * (y - p), probabilities, results, weights))] AS computed
        )
    )
);
