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
    -- A constant, so that it is computed once.
    (
{shared_fill_hashes}
    ) AS shared,
    own_fills AS
    (
        SELECT
            if(trade_id = '', trade_record_id, trade_id) AS fill_id,
            event AS recorded_event, market, asset, side, quantity, price,
            ifNull(trades.fee, toDecimal128(0, 12)) AS fee,
            executed_at
        FROM {database}.trades
        WHERE empty(shared) OR trade_id = '' OR cityHash64(trade_id) GLOBAL NOT IN (SELECT arrayJoin(shared))
        UNION ALL
        SELECT fill_id, recorded_event, market, asset, side, quantity, price, fee, executed_at
        FROM {database}.shared_fills
    )
{priced_own_fills}
UNION ALL
SELECT 'all' AS scope, trade_record_id AS fill_id, event, market, outcome, side, quantity, price, yes_price, NULL AS fee, user_id, executed_at
FROM {database}.activity;
