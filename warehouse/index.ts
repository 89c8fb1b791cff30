export { type Cluster, type ClusterNode, openCluster } from './cluster/cluster.js';
export { copyToEveryShard } from './cluster/copies.js';
export { shardsHolding } from './cluster/layouts.js';
export type { ShardConnection } from './cluster/shard-connection.js';
export { Connection, quoteName, quoteText, resultRows } from './connection.js';
export { databaseIdentities, ensureDatabaseIdentity } from './database-identity.js';
export {
  type ClickHouseEndpoint,
  consoleUrl,
  type EmbeddedEndpoint,
  findEmbedded,
  killOrphan,
} from './embedded/endpoint.js';
export { clickHouseLibrary } from './embedded/library.js';
export { EmbeddedClickHouse, type EmbeddedOptions, unconfinedReason } from './embedded/server.js';
export { ConnectionError, StatementError } from './errors.js';
export {
  BATCH_LIMITS,
  type Batch,
  type PartitionStore,
  type PartitionWriter,
  type WriterEvent,
} from './exactly-once/batch.js';
export { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from './exactly-once/checkpoint.js';
export { CheckpointedPartition } from './exactly-once/checkpointed-partition.js';
export {
  ExactlyOnceWriter,
  type Loss,
  type OpenOptions,
  type WriterOptions,
} from './exactly-once/exactly-once-writer.js';
export { decodeIntent } from './exactly-once/intent.js';
export { shardDatabase } from './names.js';
export { RowBinaryWriter } from './row-binary-writer.js';
export { checkColumns } from './schema/check-columns.js';
export { type MigrateResult, migrate, sqlFolder, viewFiles } from './schema/migrate.js';
export { assertNode, migrateCluster } from './schema/migrate-cluster.js';
export { readRollup, readViews, type ViewFile } from './schema/sql-files.js';
export {
  type ExportedRows,
  type LogTable,
  logTable,
  type ReplacingSpec,
  type ReplacingTable,
  replacingTable,
  SUMMARY_FOLLOWS,
  type TableBlock,
  type TableDefinition,
} from './table.js';
