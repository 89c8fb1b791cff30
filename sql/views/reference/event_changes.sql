-- How did the description of an event change?
--
-- Every observation whose content differs from the previous one; `first` is true for the first observation. Volumes and
-- liquidity change all the time and are ignored; they are in event_observations.
CREATE OR REPLACE VIEW {database}.event_changes
(
    `event` String COMMENT 'Event ID',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was first seen in this state',
    `previous_seen_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Last observation of the previous content: the change happened in between. NULL for the first observation',
    `title` Nullable(String) COMMENT 'Title of the event',
    `slug` Nullable(String) COMMENT 'Short name in addresses',
    `category` Nullable(String) COMMENT 'Category, as sent by the exchange',
    `tags` Array(String) COMMENT 'Names of the tags',
    `created_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the event was opened, by the exchange',
    `closes_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When trading is planned to end, by the exchange',
    `markets` Array(String) COMMENT 'Market IDs',
    `first` Bool COMMENT 'Whether this is the first observation of all'
)
AS
SELECT
    event,
    seen_at,
    if(number = 1, NULL, previous_at) AS previous_seen_at,
    title,
    slug,
    category,
    tags,
    created_at,
    closes_at,
    markets,
    toBool(number = 1) AS first
FROM
(
    SELECT
        event,
        received_at AS seen_at,
        title, slug, category, tags, created_at, closes_at, markets,
        cityHash64(tuple(title, slug, category, tags, created_at, closes_at, markets)) AS content,
        row_number() OVER history AS number,
        lagInFrame(received_at) OVER history AS previous_at,
        lagInFrame(cityHash64(tuple(title, slug, category, tags, created_at, closes_at, markets))) OVER history AS previous_content
    FROM {database}.event_observations
    WINDOW history AS (PARTITION BY event ORDER BY received_at, `_offset`, `_index` ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
WHERE number = 1 OR content != previous_content;
