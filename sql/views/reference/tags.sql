-- Which tags are or were popular?
--
-- The last observation of every tag in the popular tags. A tag that is no longer popular has its last rank: see
-- last_seen_at.
CREATE OR REPLACE VIEW {database}.tags
(
    `tag` String COMMENT 'Name of the tag',
    `popularity_rank` Nullable(Int64) COMMENT 'Popularity rank, by the exchange',
    `first_seen_at` DateTime64(6, 'UTC') COMMENT 'When the popular tags first listed it',
    `last_seen_at` DateTime64(6, 'UTC') COMMENT 'When the popular tags last listed it'
)
AS
SELECT
    tag,
    state.popularity_rank AS popularity_rank,
    first_seen_at,
    last_seen_at
FROM
(
    SELECT
        tag,
        CAST(min(tag_states.first_seen_at) AS DateTime64(6, 'UTC')) AS first_seen_at,
        CAST(max(tag_states.last_seen_at) AS DateTime64(6, 'UTC')) AS last_seen_at,
        argMaxMerge(latest) AS state
    FROM {database}.tag_states
    GROUP BY tag
);
