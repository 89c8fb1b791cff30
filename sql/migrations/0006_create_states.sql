-- The latest state of everything that is observed repeatedly. Filled by materialized views that use only min, max and
-- argMax, so that rows inserted twice change nothing.
CREATE TABLE IF NOT EXISTS {database}.event_states
(
    `event` String COMMENT 'Event ID',
    `first_seen_at` SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'When event search first listed it',
    `last_seen_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'When event search last listed it',
    `latest` AggregateFunction(argMax, Tuple(
        title Nullable(String), slug Nullable(String), category Nullable(String), tags Array(String),
        created_at Nullable(DateTime64(6, 'UTC')), closes_at Nullable(DateTime64(6, 'UTC')), markets Array(String),
        volume_24h Nullable(Float64), total_volume Nullable(Float64), liquidity Nullable(Float64)
    ), Tuple(DateTime64(6, 'UTC'), UInt64, UInt32)) COMMENT 'The last observation, by (received_at, _offset, _index)'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY event
SETTINGS {view_settings}
COMMENT 'State of every event. Read it through the view events';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.event_states_of_observations TO {database}.event_states AS
SELECT
    event,
    min(received_at) AS first_seen_at,
    max(received_at) AS last_seen_at,
    argMaxState(
        CAST((title, slug, category, tags, created_at, closes_at, markets, volume_24h, total_volume, liquidity), 'Tuple(title Nullable(String), slug Nullable(String), category Nullable(String), tags Array(String), created_at Nullable(DateTime64(6, \'UTC\')), closes_at Nullable(DateTime64(6, \'UTC\')), markets Array(String), volume_24h Nullable(Float64), total_volume Nullable(Float64), liquidity Nullable(Float64))'),
        (received_at, `_offset`, `_index`)
    ) AS latest
FROM {database}.event_observations
GROUP BY event;

CREATE TABLE IF NOT EXISTS {database}.market_states
(
    `market` String COMMENT 'Market ID',
    `first_seen_at` SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'When event search first listed it',
    `last_seen_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'When event search last listed it',
    `latest` AggregateFunction(argMax, Tuple(
        event String, name Nullable(String), yes_asset Nullable(String), no_asset Nullable(String),
        yes_price Nullable(Float64), no_price Nullable(Float64)
    ), Tuple(DateTime64(6, 'UTC'), UInt64, UInt32)) COMMENT 'The last observation, by (received_at, _offset, _index)'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY market
SETTINGS {view_settings}
COMMENT 'State of every market. Read it through the views markets and assets';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.market_states_of_observations TO {database}.market_states AS
SELECT
    market,
    min(received_at) AS first_seen_at,
    max(received_at) AS last_seen_at,
    argMaxState(
        CAST((event, name, yes_asset, no_asset, yes_price, no_price), 'Tuple(event String, name Nullable(String), yes_asset Nullable(String), no_asset Nullable(String), yes_price Nullable(Float64), no_price Nullable(Float64))'),
        (received_at, `_offset`, `_index`)
    ) AS latest
FROM {database}.market_observations
GROUP BY market;

CREATE TABLE IF NOT EXISTS {database}.category_states
(
    `category` String COMMENT 'Category ID',
    `first_seen_at` SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'When the category tree first listed it',
    `last_seen_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'When the category tree last listed it',
    `latest` AggregateFunction(argMax, Tuple(
        name Nullable(String), slug Nullable(String), parent Nullable(String), depth UInt16
    ), Tuple(DateTime64(6, 'UTC'), UInt64, UInt32)) COMMENT 'The last observation, by (received_at, _offset, _index)'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY category
SETTINGS {view_settings}
COMMENT 'State of every category. Read it through the view categories';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.category_states_of_observations TO {database}.category_states AS
SELECT
    category,
    min(received_at) AS first_seen_at,
    max(received_at) AS last_seen_at,
    argMaxState(
        CAST((name, slug, parent, depth), 'Tuple(name Nullable(String), slug Nullable(String), parent Nullable(String), depth UInt16)'),
        (received_at, `_offset`, `_index`)
    ) AS latest
FROM {database}.category_observations
GROUP BY category;

CREATE TABLE IF NOT EXISTS {database}.tag_states
(
    `tag` String COMMENT 'Name of the tag',
    `first_seen_at` SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'When the popular tags first listed it',
    `last_seen_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'When the popular tags last listed it',
    `latest` AggregateFunction(argMax, Tuple(popularity_rank Nullable(Int64)), Tuple(DateTime64(6, 'UTC'), UInt64, UInt32)) COMMENT 'The last observation, by (received_at, _offset, _index)'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY tag
SETTINGS {view_settings}
COMMENT 'State of every tag. Read it through the view tags';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.tag_states_of_observations TO {database}.tag_states AS
SELECT
    tag,
    min(received_at) AS first_seen_at,
    max(received_at) AS last_seen_at,
    argMaxState(
        CAST(tuple(popularity_rank), 'Tuple(popularity_rank Nullable(Int64))'),
        (received_at, `_offset`, `_index`)
    ) AS latest
FROM {database}.tag_observations
GROUP BY tag;

CREATE TABLE IF NOT EXISTS {database}.coin_states
(
    `coin` String COMMENT 'Coin ID',
    `first_seen_at` SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'When the coins list first listed it',
    `last_seen_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'When the coins list last listed it',
    `latest` AggregateFunction(argMax, Tuple(
        name Nullable(String), ticker Nullable(String), usd_rate Nullable(Float64),
        usd_rate_at Nullable(DateTime64(6, 'UTC')), full_decimals Nullable(Int64), display_decimals Nullable(Int64),
        status Nullable(String), icon_url Nullable(String), system_coin Nullable(Bool), collateral Nullable(Bool)
    ), Tuple(DateTime64(6, 'UTC'), UInt64, UInt32)) COMMENT 'The last observation, by (received_at, _offset, _index)'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY coin
SETTINGS {view_settings}
COMMENT 'State of every coin. Read it through the view coins';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.coin_states_of_observations TO {database}.coin_states AS
SELECT
    coin,
    min(received_at) AS first_seen_at,
    max(received_at) AS last_seen_at,
    argMaxState(
        CAST((name, ticker, usd_rate, usd_rate_at, full_decimals, display_decimals, status, icon_url, system_coin, collateral), 'Tuple(name Nullable(String), ticker Nullable(String), usd_rate Nullable(Float64), usd_rate_at Nullable(DateTime64(6, \'UTC\')), full_decimals Nullable(Int64), display_decimals Nullable(Int64), status Nullable(String), icon_url Nullable(String), system_coin Nullable(Bool), collateral Nullable(Bool))'),
        (received_at, `_offset`, `_index`)
    ) AS latest
FROM {database}.coin_observations
GROUP BY coin;

CREATE TABLE IF NOT EXISTS {database}.session_states
(
    `session_id` String COMMENT 'Session: UUID of one run of a collector',
    `collector` SimpleAggregateFunction(max, String) COMMENT 'Name of the collector',
    `version` SimpleAggregateFunction(max, String) COMMENT 'Version of Chancery',
    `shard` SimpleAggregateFunction(max, String) COMMENT 'Share of the events that it collects',
    `started_at` SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'Time of its first collector event',
    `last_heartbeat_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'Time of its last heartbeat (session-started, heartbeat, session-stopped): what it received up to then is durable',
    `stopped` SimpleAggregateFunction(max, UInt8) COMMENT '1 when the collector stopped cleanly',
    `stop_cause` SimpleAggregateFunction(max, String) COMMENT 'Why it stopped',
    `last_frames` AggregateFunction(argMax, Map(LowCardinality(String), UInt64), Tuple(DateTime64(6, 'UTC'), UInt64)) COMMENT 'last_frames of its last heartbeat, by (recorded_at, sequence)'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY session_id
SETTINGS {view_settings}
COMMENT 'State of every collector session. Read it through the view sessions';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.session_states_of_collector_events TO {database}.session_states AS
SELECT
    session_id,
    max(collector) AS collector,
    max(version) AS version,
    max(shard) AS shard,
    min(recorded_at) AS started_at,
    maxIf(recorded_at, type IN ('session-started', 'heartbeat', 'session-stopped')) AS last_heartbeat_at,
    max(type = 'session-stopped') AS stopped,
    maxIf(cause, type = 'session-stopped') AS stop_cause,
    argMaxStateIf(collector_events.last_frames, (recorded_at, sequence), type IN ('session-started', 'heartbeat', 'session-stopped')) AS last_frames
FROM {database}.collector_events
GROUP BY session_id;

CREATE TABLE IF NOT EXISTS {database}.backfill_states
(
    `event` LowCardinality(String) COMMENT 'Event ID',
    `market` LowCardinality(String) COMMENT 'Market ID',
    `fetched_from` DateTime64(6, 'UTC') COMMENT 'Start of a time without a hole whose chance history was fetched',
    `fetched_to` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'Its end'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY (market, event, fetched_from)
SETTINGS {view_settings}
COMMENT 'Times whose chance history was fetched. Read them through the view backfilled_ranges';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.backfill_states_of_collector_events TO {database}.backfill_states AS
SELECT event, market, ifNull(collector_events.fetched_from, assumeNotNull(range_from)) AS fetched_from, max(assumeNotNull(range_to)) AS fetched_to
FROM {database}.collector_events
WHERE type = 'backfilled'
GROUP BY event, market, fetched_from;

CREATE TABLE IF NOT EXISTS {database}.price_states
(
    `market` LowCardinality(String) COMMENT 'Market ID',
    `first_received_at` SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'When its first price was received',
    `last_received_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'When its last price was received',
    `event` AggregateFunction(argMax, LowCardinality(String), UInt128) COMMENT 'Event ID of its last tick, by received_at in Unix microseconds × 2^64 + _offset × 2^24 + _index, a number with the order of ticks',
    `last` AggregateFunction(argMax, Float64, UInt128) COMMENT 'Last price of the last tick, in YES terms, by the same number',
    `bid` AggregateFunction(argMax, Float64, UInt128) COMMENT 'Best bid of the last tick, in YES terms, by the same number; -1 when there is no bid',
    `ask` AggregateFunction(argMax, Float64, UInt128) COMMENT 'Best ask of the last tick, in YES terms, by the same number; -1 when there is no ask'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY market
SETTINGS {view_settings}
COMMENT 'First and last receive time of the prices of a market, and its last tick. Read it through the view latest_ticks';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.price_states_of_ticks TO {database}.price_states AS
SELECT
    market,
    min(received_at) AS first_received_at,
    max(received_at) AS last_received_at,
    argMaxState(event, bitShiftLeft(toUInt128(toUnixTimestamp64Micro(received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS tick) AS event,
    argMaxState(toFloat64(last), tick) AS last,
    -- These aggregate functions leave out NULL.
    argMaxState(ifNull(toFloat64(bid), -1), tick) AS bid,
    argMaxState(ifNull(toFloat64(ask), -1), tick) AS ask
FROM {database}.price_ticks
WHERE {no_summary_follows}
GROUP BY market;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.price_states_of_ends TO {database}.price_states AS
SELECT
    market,
    min(price_ends.first_received_at) AS first_received_at,
    max(price_ends.received_at) AS last_received_at,
    argMaxState(event, bitShiftLeft(toUInt128(toUnixTimestamp64Micro(received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS tick) AS event,
    argMaxState(last, tick) AS last,
    -- These aggregate functions leave out NULL.
    argMaxState(ifNull(bid, -1), tick) AS bid,
    argMaxState(ifNull(ask, -1), tick) AS ask
FROM {database}.price_ends
GROUP BY market;

CREATE TABLE IF NOT EXISTS {database}.chance_states
(
    `market` LowCardinality(String) COMMENT 'Market ID',
    `source` Enum8('live' = 1, 'history' = 2) COMMENT 'live: of chance_points. history: of chance_history_points',
    `last_received_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'When a chance of it was last received',
    `latest` AggregateFunction(argMax, Float64, Tuple(DateTime64(6, 'UTC'), DateTime64(6, 'UTC'), UInt64, UInt32)) COMMENT 'The last chance, by (occurred_at, received_at, _offset, _index)'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY (market, source)
SETTINGS {view_settings}
COMMENT 'The last chance of every market. Read it through the view market_chances';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.chance_states_of_points TO {database}.chance_states AS
SELECT
    market,
    CAST('live', 'Enum8(\'live\' = 1, \'history\' = 2)') AS source,
    max(received_at) AS last_received_at,
    argMaxState(chance, (occurred_at, received_at, `_offset`, `_index`)) AS latest
FROM {database}.chance_points
GROUP BY market;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.chance_states_of_history TO {database}.chance_states AS
SELECT
    market,
    CAST('history', 'Enum8(\'live\' = 1, \'history\' = 2)') AS source,
    max(received_at) AS last_received_at,
    argMaxState(chance, (occurred_at, received_at, `_offset`, `_index`)) AS latest
FROM {database}.chance_history_points
GROUP BY market;

CREATE TABLE IF NOT EXISTS {database}.poll_hours
(
    `operation` LowCardinality(String) COMMENT 'Name of the operation, as in polls',
    `subject` String COMMENT 'Subject of the request, as in polls',
    `begins_at` DateTime('UTC') COMMENT 'An hour in which a complete poll of it ended',
    `last_started_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'Latest start of the complete polls that ended in the hour',
    `last_poll` SimpleAggregateFunction(max, Tuple(finished_at DateTime64(6, 'UTC'), started_at DateTime64(6, 'UTC'))) COMMENT 'The complete poll of the hour that ended last'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY (operation, subject, begins_at)
SETTINGS {view_settings}
COMMENT 'The hours with complete polls, by which views find polls without reading all receipts';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.poll_hours_of_polls TO {database}.poll_hours AS
SELECT
    operation,
    subject,
    toStartOfHour(toDateTime(finished_at, 'UTC')) AS begins_at,
    max(started_at) AS last_started_at,
    CAST(max((finished_at, started_at)), 'Tuple(finished_at DateTime64(6, \'UTC\'), started_at DateTime64(6, \'UTC\'))') AS last_poll
FROM {database}.polls
WHERE outcome = 'complete'
GROUP BY operation, subject, begins_at;

CREATE TABLE IF NOT EXISTS {database}.poll_slots
(
    `operation` LowCardinality(String) COMMENT 'Name of the operation, as in polls',
    `subject` String COMMENT 'Subject of the request, as in polls',
    `slot` UInt8 COMMENT 'Hash of the poll_id, 0 to 63',
    `last_poll` SimpleAggregateFunction(max, Tuple(finished_at DateTime64(6, 'UTC'), poll_id String, started_at DateTime64(6, 'UTC'), pages UInt32)) COMMENT 'The complete poll with this hash that ended last'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY (operation, subject, slot)
SETTINGS {view_settings}
COMMENT 'Recent complete polls of lists of accounts: the last one of every hash, so that views find the last ones without reading all receipts';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.poll_slots_of_polls TO {database}.poll_slots AS
SELECT
    operation,
    subject,
    toUInt8(cityHash64(poll_id) % 64) AS slot,
    CAST(max((finished_at, poll_id, started_at, pages)), 'Tuple(finished_at DateTime64(6, \'UTC\'), poll_id String, started_at DateTime64(6, \'UTC\'), pages UInt32)') AS last_poll
FROM {database}.polls
WHERE outcome = 'complete'
    AND operation IN ('orders', 'trades', 'transactions', 'activity', 'open-positions', 'active-orders', 'balances', 'full-balances', 'tpsl-orders')
GROUP BY operation, subject, slot;
