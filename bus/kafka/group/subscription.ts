import { Reader } from '../protocol/reader.js';
import { Writer } from '../protocol/writer.js';

/** Partition numbers by topic. */
export type Assignment = ReadonlyMap<string, readonly number[]>;

/** A member's subscription, in the format of Kafka's consumer protocol (version 2), so that Kafka's tools can read it. */
export interface Subscription {
  readonly topics: readonly string[];
  /** Partitions that it holds. */
  readonly owned: Assignment;
  /** The generation in which it held them; -1 when it held none. */
  readonly generation: number;
}

const SUBSCRIPTION_VERSION = 2;
const ASSIGNMENT_VERSION = 0;

export function encodeSubscription(subscription: Subscription): Buffer {
  const writer = new Writer();
  writer.int16(SUBSCRIPTION_VERSION);
  writer.array(subscription.topics, (topic, w) => w.string(topic)).sizedBytes(Buffer.alloc(0));
  writePartitions(writer, subscription.owned);
  return writer.int32(subscription.generation).bytes;
}

export function decodeSubscription(bytes: Buffer): Subscription {
  const reader = new Reader(bytes);
  reader.int16();
  const topics = reader.array((r) => r.string());
  reader.sizedBytes();
  return { topics, owned: readPartitions(reader), generation: reader.int32() };
}

export function encodeAssignment(assignment: Assignment): Buffer {
  const writer = new Writer().int16(ASSIGNMENT_VERSION);
  writePartitions(writer, assignment);
  return writer.sizedBytes(Buffer.alloc(0)).bytes;
}

/** The assignment of a member without partitions may be empty. */
export function decodeAssignment(bytes: Buffer): Assignment {
  if (bytes.length === 0) return new Map();
  const reader = new Reader(bytes);
  reader.int16();
  return readPartitions(reader);
}

function writePartitions(writer: Writer, assignment: Assignment): void {
  writer.array([...assignment], ([topic, partitions], w) => w.string(topic).array(partitions, (p) => w.int32(p)));
}

function readPartitions(reader: Reader): Assignment {
  return new Map(reader.array((r) => [r.string(), r.array((each) => each.int32())] as const));
}
