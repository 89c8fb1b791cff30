/** Positions inside a record batch (message format 2). */
export const BATCH = {
  baseOffset: 0,
  /** Length of the bytes after this field. */
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  /** The checksum covers the bytes from here on. */
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  count: 57,
  records: 61,
} as const;

/** Bytes of a batch that its length field does not count. */
export const BATCH_PREFIX = BATCH.leaderEpoch;
export const MAGIC = 2;

export const CODEC_MASK = 0x07;
export const CONTROL_BIT = 0x20;
export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
