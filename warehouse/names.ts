/** The database of a cluster's node that holds the rows; the database itself has tables and views over all shards. */
export const shardDatabase = (database: string): string => `${database}_shard`;
