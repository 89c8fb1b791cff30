import type { PartitionInfo, TopicOptions } from '../bus.js';
import type { Cluster } from './cluster.js';
import { PassingError, type Patience, patiently, throwOn } from './faults.js';
import type { Names } from './names.js';
import { createTopicsRequest } from './protocol/create-topics.js';
import { ERROR } from './protocol/error-codes.js';
import type { TopicMetadata } from './protocol/metadata.js';
import { listOffsetsRequest } from './protocol/offsets.js';
import type { Compression } from './records/encode.js';

const CREATE_WAIT_MS = 5_000;
const USUAL_REPLICATION = 3;

/**
 * Creates a topic that is not there, and waits until it can be used. Its settings make an acknowledgement mean what it
 * says: at least two replicas have a record where there are three, and only one that has them all may lead.
 */
export async function ensureTopic(
  cluster: Cluster,
  name: string,
  options: TopicOptions & { readonly replication: number; readonly compression: Compression },
  patience: Patience,
): Promise<void> {
  await patiently(async () => {
    const { brokers, controller, topics } = await cluster.metadata([name]);
    const [topic] = topics;
    if (topic?.error === ERROR.none && topic.leaders.length > 0) {
      if (topic.leaders.every((leader) => leader >= 0)) return;
      throw new PassingError(`elect leaders of ${name}`, ERROR.leaderNotAvailable);
    }
    if (topic && topic.error !== ERROR.unknownTopicOrPartition) throwOn(topic.error, `show topic ${name}`);
    const replication = options.replication || Math.min(USUAL_REPLICATION, brokers.length);
    const request = createTopicsRequest(
      [{ name, partitions: options.partitions, replication, configs: configsOf(options, replication) }],
      CREATE_WAIT_MS,
    );
    const [created] = await cluster.send(controller, 'meta', request);
    if (created && created.error !== ERROR.topicAlreadyExists)
      throwOn(created.error, `create topic ${name}`, created.message);
    throw new PassingError(`show topic ${name} that was just created`, ERROR.leaderNotAvailable);
  }, patience);
}

function configsOf(
  options: TopicOptions & { readonly compression: Compression },
  replication: number,
): Record<string, string> {
  return {
    'cleanup.policy': 'delete',
    'retention.ms': String(options.retentionMs ?? -1),
    'retention.bytes': String(options.retentionBytes ?? -1),
    'min.insync.replicas': String(replication >= USUAL_REPLICATION ? 2 : 1),
    'unclean.leader.election.enable': 'false',
    // Whoever else writes to it: the broker stores it in a form that is read here.
    'compression.type': options.compression === 'none' ? 'uncompressed' : options.compression,
  };
}

/** All partitions of all of our topics, with their extent. */
export async function listPartitions(cluster: Cluster, names: Names, patience: Patience): Promise<PartitionInfo[]> {
  return await patiently(async () => {
    const { topics } = await cluster.metadata(null);
    const ours = topics.filter((t) => names.isOurs(t.name) && !t.internal && t.error === ERROR.none);
    const [begins, ends] = await Promise.all([offsetsOf(cluster, ours, 'begin'), offsetsOf(cluster, ours, 'end')]);
    return ours
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((topic) =>
        topic.leaders.map((_, partition) => {
          const key = `${topic.name}/${partition}`;
          const [begin, end] = [begins.get(key), ends.get(key)];
          if (begin === undefined || end === undefined)
            throw new PassingError(`tell the extent of ${key}`, ERROR.leaderNotAvailable);
          return { topic: names.onBus(topic.name), partition, log: topic.id, begin, end };
        }),
      );
  }, patience);
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
  const asked = [...byLeader].map(async ([leader, places]) => {
    if (leader < 0) throw new PassingError(`reach a leader of ${places[0]?.topic}`, ERROR.leaderNotAvailable);
    return await cluster.send(leader, 'meta', listOffsetsRequest(places, which));
  });
  const offsets = new Map<string, number>();
  for (const { topic, partition, error, offset } of (await Promise.all(asked)).flat()) {
    throwOn(error, `tell the ${which} of ${topic}/${partition}`);
    offsets.set(`${topic}/${partition}`, offset);
  }
  return offsets;
}
