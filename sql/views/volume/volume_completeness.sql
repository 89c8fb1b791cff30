-- Up to which time are the fills complete, of our accounts and of all users?
CREATE OR REPLACE VIEW {database}.volume_completeness
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
-- Not from account_completeness, which reads the histories a second time.
SELECT scope, if(countIf(known_to IS NULL) > 0, NULL, min(known_to)) AS complete_to
FROM
(
    SELECT scope, account, max(parts.complete_to) AS known_to
    FROM
    (
        SELECT 'own' AS scope, toString(account_lists.account) AS account, true AS is_listed, CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS complete_to
        FROM {database}.account_lists
        WHERE account != '' AND operation IN ('trades', 'transactions')
        UNION ALL
        SELECT if(operation = 'activity', 'all', 'own') AS scope, history_completeness.account AS account, operation = 'activity' AS is_listed, toNullable(history_completeness.complete_to) AS complete_to
        FROM {database}.history_completeness
        WHERE operation IN ('trades', 'activity')
    ) AS parts
    GROUP BY scope, account
    HAVING max(is_listed)
)
GROUP BY scope;
