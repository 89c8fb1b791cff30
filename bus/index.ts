export type {
  Appended,
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
export {
  BusClosedError,
  BusWriteError,
  OffsetBeyondEndError,
  OffsetGoneError,
  PartitionLostError,
  RecordTooLargeError,
  UnknownTopicError,
} from './errors.js';
export { partitionOf } from './key-hash.js';
