import type { Committed } from '../bus.js';
import type { Cluster } from './cluster.js';
import { type Patience, patiently, throwOn } from './faults.js';
import { ERROR } from './protocol/error-codes.js';
import { type FetchedOffset, listOffsetsRequest, offsetFetchRequest } from './protocol/offsets.js';

/** A partition by its topic's name in Kafka. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
}

/** What Kafka keeps beside an offset begins with the log that the offset is of: `log=UUID`, then `;` and the intent. */
const NOTE = /^log=([0-9a-f-]{36})(?:;(.*))?$/s;

export function encodeNote(log: string, intent: string | undefined): string {
  return intent === undefined ? `log=${log}` : `log=${log};${intent}`;
}

/**
 * A committed offset, if it is one of this log. An offset without a note was set by hand (kafka-consumer-groups.sh) and
 * holds too.
 */
export function committedIn(log: string, fetched: FetchedOffset | undefined): Committed | undefined {
  if (!fetched || fetched.offset < 0) return undefined;
  if (fetched.metadata === '') return { offset: fetched.offset };
  const note = NOTE.exec(fetched.metadata);
  if (note?.[1] !== log) return undefined;
  return { offset: fetched.offset, ...(note[2] === undefined ? {} : { intent: note[2] }) };
}

/** What a group committed, from the broker that keeps it. */
export async function fetchCommitted(
  cluster: Cluster,
  group: string,
  places: readonly Place[] | null,
  purpose: string,
  patience: Patience,
): Promise<FetchedOffset[]> {
  return await patiently(async () => {
    const coordinator = await cluster.coordinator(group);
    const { error, offsets } = await cluster.send(coordinator, purpose, offsetFetchRequest(group, places));
    const failed = [error, ...offsets.map((o) => o.error)].find((code) => code !== ERROR.none);
    if (failed !== undefined) cluster.forgetCoordinator(group);
    throwOn(failed ?? ERROR.none, `tell what group ${group} committed`);
    return offsets;
  }, patience);
}

/** First kept and next offset of a partition. */
export async function extentOf(
  cluster: Cluster,
  place: Place,
  patience: Patience,
): Promise<{ begin: number; end: number }> {
  const [begin, end] = await Promise.all([
    offsetAt(cluster, place, 'begin', patience),
    offsetAt(cluster, place, 'end', patience),
  ]);
  return { begin, end };
}

export async function offsetAt(
  cluster: Cluster,
  place: Place,
  which: 'begin' | 'end',
  patience: Patience,
): Promise<number> {
  const doing = `tell the ${which} of ${place.topic}/${place.partition}`;
  const make = () => ({
    request: listOffsetsRequest([place], which),
    check: (answer: readonly { error: number }[]) => throwOn(answer[0]?.error ?? ERROR.leaderNotAvailable, doing),
  });
  const [listed] = await cluster.sendToLeader(place.topic, place.partition, 'meta', make, patience);
  return listed?.offset ?? 0;
}
