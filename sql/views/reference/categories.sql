-- Which categories exist, and how are they nested?
--
-- The last observation of every category that the category tree ever contained.
CREATE OR REPLACE VIEW {database}.categories
(
    `category` String COMMENT 'Category ID',
    `name` Nullable(String) COMMENT 'Name',
    `slug` Nullable(String) COMMENT 'Short name that event search filters by',
    `parent` Nullable(String) COMMENT 'Category ID of the parent, NULL at the top of the tree',
    `depth` UInt16 COMMENT '0 at the top of the tree',
    `first_seen_at` DateTime64(6, 'UTC') COMMENT 'When the tree first listed it',
    `last_seen_at` DateTime64(6, 'UTC') COMMENT 'When the tree last listed it'
)
AS
SELECT
    category,
    state.name AS name,
    state.slug AS slug,
    state.parent AS parent,
    state.depth AS depth,
    first_seen_at,
    last_seen_at
FROM
(
    SELECT
        category,
        CAST(min(category_states.first_seen_at) AS DateTime64(6, 'UTC')) AS first_seen_at,
        CAST(max(category_states.last_seen_at) AS DateTime64(6, 'UTC')) AS last_seen_at,
        argMaxMerge(latest) AS state
    FROM {database}.category_states
    GROUP BY category
);
