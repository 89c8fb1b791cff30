import type { RecordBatch } from '../bus.js';
import { LogReplacedError, OffsetBeyondEndError, OffsetGoneError } from '../errors.js';
import type { Cluster } from './cluster.js';
import { throwOn } from './faults.js';
import { extentOf } from './offsets.js';
import { ERROR } from './protocol/error-codes.js';
import { type FetchedPartition, type FetchResponse, fetchRequest } from './protocol/fetch.js';
import { RecordSet } from './records/record-set.js';

/** How long the broker may wait for a record: a new leader may have to catch up first, milliseconds. */
const FETCH_WAIT_MS = 500;

interface OffsetRange {
  /** The topic's name on the bus, and in Kafka. */
  readonly topic: string;
  readonly kafkaTopic: string;
  readonly partition: number;
  /** Identity of the log; absent: the topic's current one. */
  readonly log?: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads exactly [start, end] of a partition from its leader, without a group.
 * @throws UnknownTopicError, OffsetGoneError, OffsetBeyondEndError, LogReplacedError, UnreadableRecordsError
 */
export async function* readRange(
  cluster: Cluster,
  range: OffsetRange,
  options: { readonly maxBatchBytes: number; readonly apiTimeoutMs: number },
): AsyncGenerator<RecordBatch> {
  const deadline = { withinMs: options.apiTimeoutMs };
  const at = { topic: range.kafkaTopic, partition: range.partition };
  const { id } = await cluster.topic(range.kafkaTopic);
  const log = range.log ?? id;
  for (let next = range.start; next <= range.end; ) {
    const fetched = await fetchOnce(cluster, range, log, next, options);
    if (fetched.error === ERROR.offsetOutOfRange || fetched.records.length === 0) {
      const { begin, end } = await extentOf(cluster, at, deadline);
      if (next < begin) throw new OffsetGoneError(range.topic, range.partition, next, begin);
      if (range.end >= end) throw new OffsetBeyondEndError(range.topic, range.partition, range.end, end);
    }
    const records = new RecordSet(fetched.records, range.topic, range.partition, next);
    for (let batch = records.take(options.maxBatchBytes, { until: range.end + 1 }); batch; ) {
      next += batch.count;
      yield batch;
      batch = records.take(options.maxBatchBytes, { until: range.end + 1 });
    }
  }
}

async function fetchOnce(
  cluster: Cluster,
  range: OffsetRange,
  log: string,
  offset: number,
  options: { readonly maxBatchBytes: number; readonly apiTimeoutMs: number },
): Promise<FetchedPartition> {
  const { kafkaTopic, partition } = range;
  const maxBytes = Math.max(options.maxBatchBytes, 2 ** 20);
  const response = await cluster.sendToLeader<FetchResponse>(
    kafkaTopic,
    partition,
    'read',
    (topic) => {
      if (topic.id !== log) throw new LogReplacedError(range.topic, partition, log);
      return {
        request: fetchRequest([{ log, partition, offset, maxBytes }], { waitMs: FETCH_WAIT_MS, maxBytes }),
        check: ({ error, partitions }) => {
          const code = error || (partitions[0]?.error ?? ERROR.notLeader);
          if (code !== ERROR.offsetOutOfRange) throwOn(code, `read ${kafkaTopic}/${partition}`);
        },
      };
    },
    { withinMs: options.apiTimeoutMs },
  );
  const [fetched] = response.partitions;
  return fetched ?? { log, partition, error: ERROR.none, end: -1, records: Buffer.alloc(0) };
}
