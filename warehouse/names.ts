/** The database of a cluster's node that contains the rows; the other one has the distributed tables and the views. */
export const shardDatabase = (database: string): string => `${database}_shard`;
