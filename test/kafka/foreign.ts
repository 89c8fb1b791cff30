import { crc32c } from '@node-rs/crc32';
import type { BusRecord } from '../../bus/index.js';
import { Cluster } from '../../bus/kafka/cluster.js';
import { offsetCommitRequest } from '../../bus/kafka/protocol/offsets.js';
import { produceRequest } from '../../bus/kafka/protocol/produce.js';
import { BatchEncoder, stampBatch } from '../../bus/kafka/records/encode.js';
import { BATCH, BATCH_PREFIX } from '../../bus/kafka/records/layout.js';

/** Appends one batch to partition 0 in a compression that Chancery does not support. */
export async function appendForeignBatch(
  brokers: readonly string[],
  topic: string,
  records: readonly BusRecord[],
  codec: 'zstd',
): Promise<void> {
  const plain = await new BatchEncoder('none').encode(records, Date.now());
  const packed = Buffer.concat([plain.subarray(0, BATCH.records), zstdFrame(plain.subarray(BATCH.records))]);
  packed.writeInt32BE(packed.length - BATCH_PREFIX, BATCH.length);
  packed.writeInt16BE({ zstd: 4 }[codec], BATCH.attributes);
  stampBatch(packed, { producerId: -1, producerEpoch: -1, sequence: -1 });
  packed.writeUInt32BE(crc32c(packed.subarray(BATCH.attributes)), BATCH.crc);
  await onCluster(brokers, async (cluster) => {
    const { leaders } = await cluster.topic(topic);
    const request = produceRequest(topic, [{ partition: 0, bytes: packed }], 5000);
    const [answer] = await cluster.send(leaders[0] ?? -1, 'produce', request);
    if (answer?.error !== 0) throw new Error(`the broker refused the batch: ${answer?.error} ${answer?.message}`);
  });
}

/** Commits an offset of partition 0 for a group without members, as Kafka's own tools do. */
export async function commitByHand(
  brokers: readonly string[],
  commit: { group: string; topic: string; offset: number; metadata: string },
): Promise<void> {
  await onCluster(brokers, async (cluster) => {
    const request = offsetCommitRequest({ ...commit, generation: -1, member: '', partition: 0 });
    const error = await cluster.send(await cluster.coordinator(commit.group), 'offsets', request);
    if (error !== 0) throw new Error(`the broker refused the commit: ${error}`);
  });
}

async function onCluster(brokers: readonly string[], work: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = new Cluster(brokers, { clientId: 'foreign', connectTimeoutMs: 5000, requestTimeoutMs: 5000 });
  try {
    await work(cluster);
  } finally {
    cluster.close();
  }
}

/** A zstd frame with uncompressed content: magic, content size of 4 bytes, one raw block. */
function zstdFrame(content: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0xa0, 4);
  head.writeUInt32LE(content.length, 5);
  head.writeUIntLE((content.length << 3) | 1, 9, 3);
  return Buffer.concat([head, content]);
}
