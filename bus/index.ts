export type {
  Bus,
  BusRecord,
  Committed,
  ConsumeOptions,
  ConsumerHandler,
  Partition,
  PartitionInfo,
  RecordBatch,
  TopicOptions,
} from './bus.js';
export { type EmbeddedBus, type EmbeddedBusOptions, openEmbeddedBus } from './embedded/embedded-bus.js';
export { ensureTopics } from './ensure-topics.js';
export {
  BusClosedError,
  BusWriteError,
  LogReplacedError,
  OffsetBeyondEndError,
  OffsetGoneError,
  PartitionLostError,
  RecordTooLargeError,
  StalledError,
  UnknownTopicError,
  UnreadableRecordsError,
} from './errors.js';
export { openKafkaBus } from './kafka/kafka-bus.js';
export type { KafkaBusOptions } from './kafka/options.js';
export { partitionOf } from './key-hash.js';
export { openBus } from './open-bus.js';
