-- How did the category tree change?
--
-- Every observation whose content differs from the previous one; `first` is true for the first observation.
CREATE OR REPLACE VIEW {database}.category_changes
(
    `category` String COMMENT 'Category ID',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was first seen in this state',
    `previous_seen_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Last observation of the previous content: the change happened in between. NULL for the first observation',
    `name` Nullable(String) COMMENT 'Name',
    `slug` Nullable(String) COMMENT 'Short name that event search filters by',
    `parent` Nullable(String) COMMENT 'Category ID of the parent, NULL at the top of the tree',
    `depth` UInt16 COMMENT '0 at the top of the tree',
    `first` Bool COMMENT 'Whether this is the first observation of all'
)
AS
SELECT
    category,
    seen_at,
    if(number = 1, NULL, previous_at) AS previous_seen_at,
    name,
    slug,
    parent,
    depth,
    toBool(number = 1) AS first
FROM
(
    SELECT
        category,
        received_at AS seen_at,
        name, slug, parent, depth,
        cityHash64(tuple(name, slug, parent, depth)) AS content,
        row_number() OVER history AS number,
        lagInFrame(received_at) OVER history AS previous_at,
        lagInFrame(cityHash64(tuple(name, slug, parent, depth))) OVER history AS previous_content
    FROM {database}.category_observations
    WINDOW history AS (PARTITION BY category ORDER BY received_at, `_offset`, `_index` ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
WHERE number = 1 OR content != previous_content;
