import type { PartitionInfo, TopicOptions } from '../bus.js';
import type { Cluster } from './cluster.js';
import { type Deadline, retryWithin, TransientError, throwOn } from './faults.js';
import type { Names } from './names.js';
import { createTopicsRequest } from './protocol/create-topics.js';
import { ERROR } from './protocol/error-codes.js';
import type { TopicMetadata } from './protocol/metadata.js';
import { listOffsetsRequest } from './protocol/offsets.js';
import type { Compression } from './records/encode.js';

const CREATE_WAIT_MS = 5_000;
const DEFAULT_REPLICATION = 3;

/**
 * Creates a topic unless it exists, and waits until it has leaders. Its settings make acks=all durable: with three
 * replicas an acknowledged record is on at least two of them, and only an in-sync replica can become leader.
 */
export async function ensureTopic(
  cluster: Cluster,
  name: string,
  options: TopicOptions & { readonly replication: number; readonly compression: Compression },
  deadline: Deadline,
): Promise<void> {
  await retryWithin(async () => {
    const { brokers, controller, topics } = await cluster.metadata([name]);
    const [topic] = topics;
    if (topic?.error === ERROR.none && topic.leaders.length > 0) {
      if (topic.leaders.every((leader) => leader >= 0)) return;
      throw new TransientError(`elect leaders of ${name}`, ERROR.leaderNotAvailable);
    }
    if (topic && topic.error !== ERROR.unknownTopicOrPartition) throwOn(topic.error, `describe topic ${name}`);
    const replication = options.replication || Math.min(DEFAULT_REPLICATION, brokers.length);
    const request = createTopicsRequest(
      [{ name, partitions: options.partitions, replication, configs: configsOf(options, replication) }],
      CREATE_WAIT_MS,
    );
    const [created] = await cluster.send(controller, 'meta', request);
    if (created && created.error !== ERROR.topicAlreadyExists)
      throwOn(created.error, `create topic ${name}`, created.message);
    throw new TransientError(`describe topic ${name}, which was just created`, ERROR.leaderNotAvailable);
  }, deadline);
}

function configsOf(
  options: TopicOptions & { readonly compression: Compression },
  replication: number,
): Record<string, string> {
  return {
    'cleanup.policy': 'delete',
    'retention.ms': String(options.retentionMs ?? -1),
    'retention.bytes': String(options.retentionBytes ?? -1),
    'min.insync.replicas': String(replication >= DEFAULT_REPLICATION ? 2 : 1),
    'unclean.leader.election.enable': 'false',
    // The broker recompresses what other producers write: this consumer reads only gzip and uncompressed batches.
    'compression.type': options.compression === 'none' ? 'uncompressed' : options.compression,
  };
}

/** All partitions of all topics with our prefix, with their first and end offsets. */
export async function listPartitions(cluster: Cluster, names: Names, deadline: Deadline): Promise<PartitionInfo[]> {
  return await retryWithin(async () => {
    const { topics } = await cluster.metadata(null);
    const own = topics.filter((t) => names.isOurs(t.name) && !t.internal && t.error === ERROR.none);
    const [begins, ends] = await Promise.all([offsetsOf(cluster, own, 'begin'), offsetsOf(cluster, own, 'end')]);
    return own
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((topic) =>
        topic.leaders.map((_, partition) => {
          const key = `${topic.name}/${partition}`;
          const [begin, end] = [begins.get(key), ends.get(key)];
          if (begin === undefined || end === undefined)
            throw new TransientError(`list the offsets of ${key}`, ERROR.leaderNotAvailable);
          return { topic: names.onBus(topic.name), partition, log: topic.id, begin, end };
        }),
      );
  }, deadline);
}

async function offsetsOf(
  cluster: Cluster,
  topics: readonly TopicMetadata[],
  which: 'begin' | 'end',
): Promise<Map<string, number>> {
  const byLeader = new Map<number, { topic: string; partition: number }[]>();
  for (const { name, leaders } of topics) {
    for (const [partition, leader] of leaders.entries()) {
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), { topic: name, partition }]);
    }
  }
  const requests = [...byLeader].map(async ([leader, partitions]) => {
    if (leader < 0) throw new TransientError(`find a leader of ${partitions[0]?.topic}`, ERROR.leaderNotAvailable);
    return await cluster.send(leader, 'meta', listOffsetsRequest(partitions, which));
  });
  const offsets = new Map<string, number>();
  for (const { topic, partition, error, offset } of (await Promise.all(requests)).flat()) {
    throwOn(error, `list the ${which} offset of ${topic}/${partition}`);
    offsets.set(`${topic}/${partition}`, offset);
  }
  return offsets;
}
