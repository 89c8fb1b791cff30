-- Which database is this? Workers commit its identity with their offsets, and stop when they find another one.
CREATE TABLE IF NOT EXISTS {database}.database_identity
(
    `id` UUID COMMENT 'Random; written by the first worker, several if they started at the same moment',
    `created_at` DateTime64(6, 'UTC') COMMENT 'When it was written'
)
ENGINE = {engine:MergeTree}
ORDER BY created_at
SETTINGS {log_settings}
COMMENT 'Identity of this database; on a cluster that of the shard, the same on its replicas. A copy or a backup has the identity of the original';
