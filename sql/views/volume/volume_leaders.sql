-- Which markets were traded most within a window that ends now?
--
--   SELECT * FROM volume_leaders(window_seconds = 86400) WHERE scope = 'all' ORDER BY rank LIMIT 10
--
-- One row per scope and market with a fill within the window, in exchange time. rank 1 has the largest volume; of equal
-- volumes the smaller market ID is first. share = volume / volume of all markets of the scope within the window. The sums are those of
-- volume_by_period. After complete_to fills may be missing.
CREATE OR REPLACE VIEW {database}.volume_leaders
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `rank` UInt64 COMMENT '1 for the largest volume of the scope',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when absent',
    `title` Nullable(String) COMMENT 'Title of the event; NULL when it is unknown',
    `name` Nullable(String) COMMENT 'Name of the market; NULL when it is unknown',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(38, 12) COMMENT 'Sum of quantity × price of the taker''s asset, USDC',
    `share` Nullable(Float64) COMMENT 'Part of the volume of all markets of the scope, 0 to 1; NULL when that is 0',
    `vwap` Nullable(Float64) COMMENT 'Volume-weighted average price in YES terms, over the fills with a known outcome',
    `traders` Nullable(UInt64) COMMENT 'all: number of users who were the taker. own: NULL',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
SELECT
    CAST(leading.scope, 'String') AS scope,
    rank,
    leading.event AS event,
    leading.market AS market,
    titles.title AS title,
    names.name AS name,
    trades,
    shares,
    volume,
    if(scope_volume = 0, NULL, toFloat64(volume) / toFloat64(scope_volume)) AS share,
    if(shares = unpriced_shares, NULL, toFloat64(yes_value) / toFloat64(shares - unpriced_shares)) AS vwap,
    traders,
    known_to.complete_to AS complete_to
FROM
(
    SELECT
        *,
        row_number() OVER (PARTITION BY scope ORDER BY volume DESC, market) AS rank,
        sum(volume) OVER (PARTITION BY scope) AS scope_volume
    FROM
    (
        SELECT
            scope,
            event,
            market,
{fill_sums},
            if(scope = 'all', uniqExactIf(user_id, user_id != ''), NULL) AS traders
        FROM {database}.fills
        WHERE executed_at > now64(6, 'UTC') - toIntervalSecond({window_seconds:UInt32})
        GROUP BY scope, event, market
    )
) AS leading
LEFT JOIN (SELECT event, title FROM ({event_texts})) AS titles ON titles.event = leading.event
LEFT JOIN (SELECT market, toNullable(name) AS name FROM {database}.markets) AS names ON names.market = leading.market
LEFT JOIN (SELECT scope, complete_to FROM {database}.volume_completeness) AS known_to ON known_to.scope = leading.scope;
