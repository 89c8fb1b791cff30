-- How well do prices forecast how markets are resolved, at every horizon before their close?
--
-- One row per weighting, horizon and basis of calibration_forecasts. From there come the observed forecasts p, their results o (1 or 0)
-- and weights w; W = sum(w). Basis any: markets of both bases. Forecasts are binned by cent c, [c / 100, (c + 1) / 100): a price of exactly
-- 0.07 is in bin 7; prices are rounded to 6 decimals for the choice of the bin only. Of bin k: W_k, mean forecast p_k, mean result o_k.
--   brier_score = sum(w × (p - o)²) / W = reliability - resolution + uncertainty + within_bin_variance - within_bin_covariance
--   reliability           = sum(W_k × (p_k - o_k)²) / W: 0 is calibrated
--   resolution            = sum(W_k × (o_k - mean result)²) / W
--   uncertainty           = mean result × (1 - mean result)
--   within_bin_variance   = sum(w × (p - p_k)²) / W
--   within_bin_covariance = 2 × sum(w × (o - o_k) × (p - p_k)) / W
--   log_score             = -sum(w × ln(p of what happened)) / W, nats
-- Corrected for the bias of few markets (Ferro and Fricker 2012), with b = sum(W_k × o_k × (1 - o_k) / (W_k - 1)) / W over bins of more
-- than one market and v = uncertainty / (W - 1): reliability - b, resolution - b + v, uncertainty + v; they can be negative. The
-- correction is of equal weights: NULL for the weighting trades.
-- The 95 % intervals of brier_score and log_score are clustered by event, because markets of one event are not independent. With the
-- sums W_g of the weights and S_g of weight × score of each of G events (scores are rounded to 12 decimals):
--   score ± 1.959964 × sqrt(G / (G - 1) × sum((S_g - score × W_g)²)) / W, not below 0, for the Brier score not above 1
-- From fewer than 10 events there is none.
-- A row has scores only if it has at least 30 markets and the missing fraction of them is at most 0.2; other rows show only their
-- numbers of markets.
CREATE OR REPLACE VIEW {database}.calibration_scores
(
    `weighting` String COMMENT 'time or trades, as in calibration_forecasts',
    `horizon` String COMMENT 'Time before the close: 1 h, 6 h, 1 d, 3 d, 7 d or 30 d',
    `horizon_seconds` UInt32 COMMENT 'The same, seconds',
    `basis` String COMMENT 'How the resolutions are known: payout, final chance (inferred), or any (both)',
    `markets` UInt64 COMMENT 'Number of markets with an observed forecast',
    `events` UInt64 COMMENT 'Number of their events: markets of one event are not independent',
    `missing_markets` UInt64 COMMENT 'Number of markets whose forecast is missing',
    `missing` Float64 COMMENT 'missing_markets as a fraction of both, 0 to 1',
    `weight` UInt64 COMMENT 'Sum of the weights: number of markets, or of trades',
    `state` String COMMENT 'scored; too few: fewer than 30 markets; too many missing: more than 0.2',
    `brier_score` Nullable(Float64) COMMENT 'Mean squared difference of forecast and result, 0 to 1; NULL unless scored',
    `reliability` Nullable(Float64) COMMENT 'Part of the Brier score: squared distance of forecasts from the results of their bin, 0 to 1; NULL unless scored',
    `resolution` Nullable(Float64) COMMENT 'Part that is subtracted: variance of the results between bins, 0 to 1; NULL unless scored',
    `uncertainty` Nullable(Float64) COMMENT 'Part: variance of the results, 0 to 1; NULL unless scored',
    `within_bin_variance` Nullable(Float64) COMMENT 'Part: variance of forecasts within bins, 0 to 1; NULL unless scored',
    `within_bin_covariance` Nullable(Float64) COMMENT 'Part that is subtracted: twice the covariance of results and forecasts within bins, -1 to 1; NULL unless scored',
    `corrected_reliability` Nullable(Float64) COMMENT 'reliability without the bias of few markets, -1 to 1; NULL unless scored by time',
    `corrected_resolution` Nullable(Float64) COMMENT 'resolution without the bias of few markets, -1 to 1; NULL unless scored by time',
    `corrected_uncertainty` Nullable(Float64) COMMENT 'uncertainty without the bias of few markets, -1 to 1; NULL unless scored by time',
    `log_score` Nullable(Float64) COMMENT 'Mean of -ln of the probability given to what happened, nats; NULL unless scored',
    `brier_score_lower` Nullable(Float64) COMMENT 'Lower bound of the 95 % interval of brier_score, 0 to 1, clustered by event; NULL unless scored, or with fewer than 10 events',
    `brier_score_upper` Nullable(Float64) COMMENT 'Upper bound of the 95 % interval of brier_score, 0 to 1, clustered by event; NULL unless scored, or with fewer than 10 events',
    `log_score_lower` Nullable(Float64) COMMENT 'Lower bound of the 95 % interval of log_score, nats, clustered by event; NULL unless scored, or with fewer than 10 events',
    `log_score_upper` Nullable(Float64) COMMENT 'Upper bound of the 95 % interval of log_score, nats, clustered by event; NULL unless scored, or with fewer than 10 events'
)
AS
SELECT
    weighting,
    horizon,
    horizon_seconds,
    basis,
    markets,
    events,
    missing_markets,
    missing_markets / (markets + missing_markets) AS missing,
    weight,
    multiIf(markets < 30, 'too few', missing_markets / (markets + missing_markets) > 0.2, 'too many missing', 'scored') AS state,
    if(state = 'scored', sums.1 / weight, NULL) AS brier_score,
    if(state = 'scored', sums.2 / weight, NULL) AS reliability,
    if(state = 'scored', arraySum(bin -> bin.2 * pow(bin.3 / bin.2 - wins / weight, 2), bins) / weight, NULL) AS resolution,
    if(state = 'scored', wins / weight * (1 - wins / weight), NULL) AS uncertainty,
    if(state = 'scored', sums.3 / weight, NULL) AS within_bin_variance,
    if(state = 'scored', sums.4 / weight, NULL) AS within_bin_covariance,
    if(weighting = 'time', reliability - sums.5 / weight, NULL) AS corrected_reliability,
    if(weighting = 'time', resolution - sums.5 / weight + uncertainty / (weight - 1), NULL) AS corrected_resolution,
    if(weighting = 'time', uncertainty + uncertainty / (weight - 1), NULL) AS corrected_uncertainty,
    if(state = 'scored', sums.6 / weight, NULL) AS log_score,
    if(state = 'scored' AND events >= 10, greatest(0, brier_score - brier_half_width), NULL) AS brier_score_lower,
    if(state = 'scored' AND events >= 10, least(1, brier_score + brier_half_width), NULL) AS brier_score_upper,
    if(state = 'scored' AND events >= 10, greatest(0, log_score - log_half_width), NULL) AS log_score_lower,
    if(state = 'scored' AND events >= 10, log_score + log_half_width, NULL) AS log_score_upper
FROM
(
    SELECT
        *,
        1.959963984540054 * sqrt(events / greatest(events - 1, 1) * arraySum((w, one) -> pow(toFloat64(one) / 1e12 - sums.1 / weight * toFloat64(w), 2), clusters.2, clusters.3)) / weight AS brier_half_width,
        1.959963984540054 * sqrt(events / greatest(events - 1, 1) * arraySum((w, one) -> pow(toFloat64(one) / 1e12 - sums.6 / weight * toFloat64(w), 2), clusters.2, clusters.4)) / weight AS log_half_width
    FROM
    (
        SELECT
            weighting,
            horizon,
            horizon_seconds,
            basis,
            sum(bin_markets) AS markets,
            length(arrayDistinct(arrayFlatten(groupArray(bin_events)))) AS events,
            sum(bin_missing) AS missing_markets,
            sum(bin_weight) AS weight,
            sum(bin_wins) AS wins,
            sumMap(bin_clusters.1, bin_clusters.2, bin_clusters.3, bin_clusters.4) AS clusters,
            -- In order of the bins: the sum of doubles depends on the order.
            arraySort(groupArrayIf((cent, bin_weight, bin_wins, bin_forecast, forecasts), bin_markets > 0)) AS bins,
            (
                arraySum(bin -> arraySum(one -> one.4 * pow(one.2 - one.3, 2), bin.5), bins),
                arraySum(bin -> bin.2 * pow(bin.4 - bin.3 / bin.2, 2), bins),
                arraySum(bin -> arraySum(one -> one.4 * pow(one.2 - bin.4, 2), bin.5), bins),
                2 * arraySum(bin -> arraySum(one -> one.4 * (one.3 - bin.3 / bin.2) * (one.2 - bin.4), bin.5), bins),
                arraySum(bin -> bin.3 * (1 - bin.3 / bin.2) / greatest(1, toInt64(bin.2) - 1), bins),
                -arraySum(bin -> arraySum(one -> one.4 * log(if(one.3 = 1, one.2, 1 - one.2)), bin.5), bins)
            ) AS sums
        FROM
        (
            SELECT
                weighting,
                horizon,
                horizon_seconds,
                basis,
                cent,
                countIf(state = 'observed') AS bin_markets,
                countIf(state = 'missing') AS bin_missing,
                groupUniqArrayIf(event, state = 'observed') AS bin_events,
                sum(market_weight) AS bin_weight,
                sum(market_weight * result) AS bin_wins,
                -- By event; whole numbers, whose sums depend on no order.
                sumMapIf(
                    [toString(event)],
                    [toInt128(market_weight)],
                    [toInt128(round(market_weight * pow(ifNull(forecast, 0) - result, 2) * 1e12))],
                    [toInt128(round(market_weight * least(700, -log(if(result = 1, ifNull(forecast, 1), 1 - ifNull(forecast, 0)))) * 1e12))],
                    state = 'observed'
                ) AS bin_clusters,
                arraySort(groupArrayIf((market, assumeNotNull(forecast), result, market_weight), state = 'observed')) AS forecasts,
                arraySum(one -> one.2 * one.4, forecasts) / bin_weight AS bin_forecast
            FROM
            (
                SELECT
                    weighting,
                    horizon,
                    horizon_seconds,
                    arrayJoin(['any', calibration_forecasts.basis]) AS basis,
                    event,
                    market,
                    state,
                    forecast,
                    result,
                    weight AS market_weight,
                    -- In millionths: 0.29 × 100 is less than 29 in binary.
                    if(state = 'observed', least(99, intDiv(toInt64(round(ifNull(forecast, 0) * 1000000)), 10000)), -1) AS cent
                FROM {database}.calibration_forecasts
                WHERE state != 'no trade'
            )
            GROUP BY weighting, horizon, horizon_seconds, basis, cent
        )
        GROUP BY weighting, horizon, horizon_seconds, basis
    )
);
