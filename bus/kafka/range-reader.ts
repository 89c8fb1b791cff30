import type { RecordBatch } from '../bus.js';
import { LogReplacedError, OffsetBeyondEndError, OffsetGoneError } from '../errors.js';
import type { Cluster } from './cluster.js';
import { throwOn } from './faults.js';
import { extentOf } from './offsets.js';
import { ERROR } from './protocol/error-codes.js';
import { type FetchAnswer, type FetchedPartition, fetchRequest } from './protocol/fetch.js';
import { RecordSet } from './records/record-set.js';

/** How long the broker may wait for a record that is there: it may have to catch up first, milliseconds. */
const FETCH_WAIT_MS = 500;

export interface Range {
  /** The topic's name on the bus, and in Kafka. */
  readonly topic: string;
  readonly kafkaTopic: string;
  readonly partition: number;
  /** The log that is meant; the present one when absent. */
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
  range: Range,
  options: { readonly maxBatchBytes: number; readonly patienceMs: number },
): AsyncGenerator<RecordBatch> {
  const patience = { forMs: options.patienceMs };
  const place = { topic: range.kafkaTopic, partition: range.partition };
  const { id } = await cluster.topic(range.kafkaTopic);
  const log = range.log ?? id;
  for (let next = range.start; next <= range.end; ) {
    const fetched = await fetchOnce(cluster, range, log, next, options);
    if (fetched.error === ERROR.offsetOutOfRange || fetched.records.length === 0) {
      const { begin, end } = await extentOf(cluster, place, patience);
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
  range: Range,
  log: string,
  offset: number,
  options: { readonly maxBatchBytes: number; readonly patienceMs: number },
): Promise<FetchedPartition> {
  const { kafkaTopic, partition } = range;
  const maxBytes = Math.max(options.maxBatchBytes, 2 ** 20);
  const answer = await cluster.sendToLeader<FetchAnswer>(
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
    { forMs: options.patienceMs },
  );
  const [fetched] = answer.partitions;
  return fetched ?? { log, partition, error: ERROR.none, end: -1, records: Buffer.alloc(0) };
}
