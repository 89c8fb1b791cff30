-- How did the popularity of tags change?
--
-- Every observation whose content differs from the previous one; `first` is true for the first observation.
CREATE OR REPLACE VIEW {database}.tag_changes
(
    `tag` String COMMENT 'Name of the tag',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was first seen in this state',
    `previous_seen_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Last observation of the previous content: the change happened in between. NULL for the first observation',
    `popularity_rank` Nullable(Int64) COMMENT 'Popularity rank, by the exchange',
    `first` Bool COMMENT 'Whether this is the first observation of all'
)
AS
SELECT
    tag,
    seen_at,
    if(number = 1, NULL, previous_at) AS previous_seen_at,
    popularity_rank,
    toBool(number = 1) AS first
FROM
(
    SELECT
        tag,
        received_at AS seen_at,
        popularity_rank,
        cityHash64(tuple(popularity_rank)) AS content,
        row_number() OVER history AS number,
        lagInFrame(received_at) OVER history AS previous_at,
        lagInFrame(cityHash64(tuple(popularity_rank))) OVER history AS previous_content
    FROM {database}.tag_observations
    WINDOW history AS (PARTITION BY tag ORDER BY received_at, `_offset`, `_index` ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
WHERE number = 1 OR content != previous_content;
