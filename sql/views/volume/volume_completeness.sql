-- Up to which time are the fills complete, of our accounts and of all users?
CREATE OR REPLACE VIEW {database}.volume_completeness
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
SELECT 'own' AS scope, if(countIf(trades_complete_to IS NULL) > 0, NULL, min(trades_complete_to)) AS complete_to
FROM {database}.account_completeness
HAVING count() > 0
UNION ALL
SELECT 'all' AS scope, toNullable(max(history_completeness.complete_to)) AS complete_to
FROM {database}.history_completeness
WHERE operation = 'activity'
HAVING count() > 0;
