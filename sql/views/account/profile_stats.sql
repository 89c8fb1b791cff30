-- What do our accounts' profiles on the exchange show?
--
-- The last observation of every polled user.
CREATE OR REPLACE VIEW {database}.profile_stats
(
    `account` String COMMENT 'Configured name of the account',
    `user_id` String COMMENT 'User ID',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was received',
    `username` Nullable(String) COMMENT 'Name of the user, or its HMAC-SHA-256 (64 hexadecimal digits) where --username-key is set',
    `joined_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the user joined, by the exchange',
    `is_self` Nullable(Bool) COMMENT 'Whether the user is the polled account',
    `position_value` Nullable(Decimal(38, 12)) COMMENT 'Value of the open positions, USDC',
    `volume_traded` Nullable(Decimal(38, 12)) COMMENT 'Volume, USDC',
    `markets_traded` Nullable(Int64) COMMENT 'Number of markets traded'
)
AS
SELECT account, user_id, received_at AS seen_at, username, joined_at, is_self, position_value, volume_traded, markets_traded
FROM {database}.profile_observations
ORDER BY received_at DESC, `_offset` DESC, `_index` DESC
LIMIT 1 BY account, user_id;
