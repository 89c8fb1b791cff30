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
export { OffsetGoneError, PartitionLostError } from './errors.js';
