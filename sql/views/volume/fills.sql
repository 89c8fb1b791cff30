-- What was traded, fill by fill, by our accounts and by all users?
--
-- One row per fill and scope. `own`: a fill of our accounts counts once, also when both of its sides are ours; then the row is
-- the side that is in the activity feed (taken as the taker's) or, if neither is there, the one that paid the larger fee. Of a fill
-- with one own side the row is that side: if it is the maker of a mint or merge, its price differs from the taker's. `all`: the
-- activity feed, one item per fill, of all users and so of our accounts too; the two scopes are never added up.
--
-- yes_price = price, of a NO asset 1 - price. An own fill has an asset, and its outcome follows from the view assets: it is unknown
-- when event search never listed the market, because its event closed before recording began. Then there is no yes_price. The
-- interface sends no fee, no order and no counterparty of a fill in the activity feed.
CREATE OR REPLACE VIEW {database}.fills
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `fill_id` String COMMENT 'own: ID of the fill (trade_id), or of our side where there is none. all: ID of the side in the feed',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when absent',
    `outcome` String COMMENT 'YES or NO: which asset was traded; empty when unknown',
    `side` String COMMENT 'BUY or SELL; empty when absent',
    `quantity` Decimal(38, 12) COMMENT 'Shares',
    `price` Decimal(38, 12) COMMENT 'USDC per share of the asset',
    `yes_price` Nullable(Decimal(38, 12)) COMMENT 'USDC per share in YES terms: of a NO asset 1 - price; NULL when the outcome is unknown',
    `fee` Nullable(Decimal(38, 12)) COMMENT 'own: sum of the fees of our sides, USDC. all: NULL, unknown',
    `user_id` String COMMENT 'all: the user of the item in the feed; empty when absent. own: empty',
    `executed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was executed, by the exchange'
)
AS
WITH
    -- Hashes of the fills of which there are two records: between two of our accounts, or of a record that is not merged yet. Others
    -- with such a hash are grouped for nothing. A constant, so that it is computed once, and that nothing more is read if it is empty.
    (
        SELECT groupArray(hash)
        FROM (SELECT cityHash64(trade_id) AS hash FROM {database}.trade_records WHERE trade_id != '' GROUP BY hash HAVING count() > 1)
    ) AS shared
SELECT
    'own' AS scope,
    fill_id,
    if(said_event != '', said_event, known_event) AS event,
    market,
    outcome,
    side,
    quantity,
    price,
    multiIf(outcome = 'YES', price, outcome = 'NO', 1 - price, NULL) AS yes_price,
    toNullable(own_fills.fee) AS fee,
    '' AS user_id,
    executed_at
FROM
(
    SELECT
        if(trade_id = '', trade_record_id, trade_id) AS fill_id,
        event AS said_event, market, asset, side, quantity, price, executed_at,
        ifNull(trades.fee, toDecimal128(0, 12)) AS fee
    FROM {database}.trades
    WHERE empty(shared) OR trade_id = '' OR cityHash64(trade_id) GLOBAL NOT IN (SELECT arrayJoin(shared))
    UNION ALL
    SELECT
        trade_id AS fill_id,
        taken.1 AS said_event, taken.2 AS market, taken.3 AS asset, taken.4 AS side, taken.5 AS quantity, taken.6 AS price, taken.7 AS executed_at,
        fee
    FROM
    (
        SELECT
            trade_id,
            sum(ifNull(trades.fee, toDecimal128(0, 12))) AS fee,
            argMax((event, market, asset, side, quantity, price, executed_at), (trade_record_id GLOBAL IN (
                SELECT trade_record_id FROM {database}.activity_records
                WHERE trade_record_id GLOBAL IN (SELECT trade_record_id FROM {database}.trade_records WHERE notEmpty(shared) AND trade_id != '' AND cityHash64(trade_id) GLOBAL IN (SELECT arrayJoin(shared)))
            ), ifNull(trades.fee, toDecimal128(0, 12)), trade_record_id)) AS taken
        FROM {database}.trades
        WHERE notEmpty(shared) AND trade_id != '' AND cityHash64(trade_id) GLOBAL IN (SELECT arrayJoin(shared))
        GROUP BY trade_id
    )
) AS own_fills
LEFT JOIN (SELECT asset, outcome FROM {database}.assets) AS known USING (asset)
LEFT JOIN (SELECT market, event AS known_event FROM {database}.markets) AS known_markets USING (market)
UNION ALL
SELECT 'all' AS scope, trade_record_id AS fill_id, event, market, outcome, side, quantity, price, yes_price, NULL AS fee, user_id, executed_at
FROM {database}.activity;
