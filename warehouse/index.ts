export { type Cluster, type ClusterNode, type ClusterOptions, openCluster } from './cluster/cluster.js';
export { type CopyOptions, copyToEveryShard } from './cluster/copies.js';
export { shardsHolding } from './cluster/layouts.js';
export type {
  CommandOptions,
  QueryParams,
  ReadOptions,
  ShardConnection,
  StatementSettings,
} from './cluster/shard-connection.js';
export { Connection, type ConnectionOptions } from './connection.js';
export { type ClickHouseEndpoint, consoleUrl, type EmbeddedEndpoint, findEmbedded } from './embedded/endpoint.js';
export type { EmbeddedCluster } from './embedded/files.js';
export { clickHouseLibrary } from './embedded/library.js';
export { EmbeddedClickHouse, type EmbeddedHealth, type EmbeddedOptions } from './embedded/server.js';
export { ConnectionError, StatementError } from './errors.js';
export {
  BATCH_LIMITS,
  type Batch,
  type PartitionStore,
  type PartitionWriter,
  type Rebuild,
  type WriterEvent,
} from './exactly-once/batch.js';
export {
  ExactlyOnceWriter,
  type Loss,
  type OpenOptions,
  type WriterOptions,
} from './exactly-once/exactly-once-writer.js';
export type { WriterTiming } from './exactly-once/writer-context.js';
export { shardDatabase } from './names.js';
export { RowBinaryWriter } from './row-binary-writer.js';
export { checkColumns } from './schema/check-columns.js';
export { type MigrateOptions, type MigrateResult, migrate, sqlFolder } from './schema/migrate.js';
export { assertNode, type MigrateClusterOptions, migrateCluster, type NodeResult } from './schema/migrate-cluster.js';
export {
  type Column,
  type LogTable,
  logTable,
  POSITION_COLUMNS,
  type ReplacingTable,
  replacingTable,
  type TableBlock,
  type TableDefinition,
  TOPIC_COLUMN,
} from './table.js';
