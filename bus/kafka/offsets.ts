import type { Committed } from '../bus.js';
import type { Cluster } from './cluster.js';
import { type Deadline, retryWithin, throwOn } from './faults.js';
import { ERROR } from './protocol/error-codes.js';
import { type FetchedOffset, listOffsetsRequest, offsetFetchRequest } from './protocol/offsets.js';

/** A partition by its topic's name in Kafka. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * The metadata of a committed offset: `log=UUID`, the topic ID, then optionally `;checkpoint=` and the
 * checkpoint, then optionally `;` and the intent.
 */
const OFFSET_METADATA = /^log=([0-9a-f-]{36})(?:;checkpoint=([^;]*))?(?:;(.*))?$/s;

export function encodeOffsetMetadata(log: string, intent: string | undefined, checkpoint: string | undefined): string {
  const parts = [`log=${log}`];
  if (checkpoint !== undefined) parts.push(`checkpoint=${checkpoint}`);
  if (intent !== undefined) parts.push(intent);
  return parts.join(';');
}

/**
 * The committed offset, if it belongs to this log. An offset without metadata was set by a tool
 * (kafka-consumer-groups.sh) and is valid too.
 */
export function committedIn(log: string, fetched: FetchedOffset | undefined): Committed | undefined {
  if (!fetched || fetched.offset < 0) return undefined;
  if (fetched.metadata === '') return { offset: fetched.offset };
  const match = OFFSET_METADATA.exec(fetched.metadata);
  if (match?.[1] !== log) return undefined;
  const [, , checkpoint, intent] = match;
  return {
    offset: fetched.offset,
    ...(intent === undefined ? {} : { intent }),
    ...(checkpoint === undefined ? {} : { checkpoint }),
  };
}

/** The offsets that a group committed, from its coordinator. */
export async function fetchCommitted(
  cluster: Cluster,
  group: string,
  partitions: readonly TopicPartition[] | null,
  purpose: string,
  deadline: Deadline,
): Promise<FetchedOffset[]> {
  return await retryWithin(async () => {
    const coordinator = await cluster.coordinator(group);
    const { error, offsets } = await cluster.send(coordinator, purpose, offsetFetchRequest(group, partitions));
    const failed = [error, ...offsets.map((o) => o.error)].find((code) => code !== ERROR.none);
    if (failed !== undefined) cluster.forgetCoordinator(group);
    throwOn(failed ?? ERROR.none, `fetch the committed offsets of group ${group}`);
    return offsets;
  }, deadline);
}

/** Log start offset and log end offset of a partition. */
export async function extentOf(
  cluster: Cluster,
  at: TopicPartition,
  deadline: Deadline,
): Promise<{ begin: number; end: number }> {
  const [begin, end] = await Promise.all([
    offsetAt(cluster, at, 'begin', deadline),
    offsetAt(cluster, at, 'end', deadline),
  ]);
  return { begin, end };
}

export async function offsetAt(
  cluster: Cluster,
  at: TopicPartition,
  which: 'begin' | 'end',
  deadline: Deadline,
): Promise<number> {
  const doing = `list the ${which} offset of ${at.topic}/${at.partition}`;
  const make = () => ({
    request: listOffsetsRequest([at], which),
    check: (response: readonly { error: number }[]) => throwOn(response[0]?.error ?? ERROR.leaderNotAvailable, doing),
  });
  const [listed] = await cluster.sendToLeader(at.topic, at.partition, 'meta', make, deadline);
  return listed?.offset ?? 0;
}
