import type { Request } from './request.js';

export interface BrokerAddress {
  readonly node: number;
  readonly host: string;
  readonly port: number;
}

export interface TopicMetadata {
  readonly name: string;
  /** The topic ID as a UUID: a topic that is deleted and created again gets another one. */
  readonly id: string;
  readonly internal: boolean;
  readonly error: number;
  /** Node of each partition's leader, by partition; -1 while there is none. */
  readonly leaders: readonly number[];
}

export interface Metadata {
  readonly brokers: readonly BrokerAddress[];
  readonly controller: number;
  readonly topics: readonly TopicMetadata[];
}

/** Version 12: the first with topic IDs in request and response. `topics` null requests all. */
export function metadataRequest(topics: readonly string[] | null): Request<Metadata> {
  return {
    name: 'Metadata',
    key: 3,
    version: 12,
    flexible: true,
    encode(writer) {
      writer
        .compactArray(topics, (topic, w) => w.uuid('0'.repeat(32)).compactString(topic).noTags())
        .boolean(false)
        .boolean(false)
        .noTags();
    },
    decode(reader) {
      reader.int32();
      const brokers = reader.compactArray((r) => {
        const broker = { node: r.int32(), host: r.compactString(), port: r.int32() };
        r.compactString();
        r.tags();
        return broker;
      });
      reader.compactString();
      const controller = reader.int32();
      const found = reader.compactArray((r) => {
        const topic = { error: r.int16(), name: r.compactString(), id: r.uuid(), internal: r.boolean() };
        const leaders: number[] = [];
        for (const p of r.compactArray(readPartition)) leaders[p.partition] = p.leader;
        r.int32();
        r.tags();
        return { ...topic, leaders };
      });
      return { brokers, controller, topics: found };
    },
  };
}

function readPartition(r: Parameters<Request<unknown>['decode']>[0]): { partition: number; leader: number } {
  r.int16();
  const partition = { partition: r.int32(), leader: r.int32() };
  r.int32();
  for (let lists = 0; lists < 3; lists++) r.compactArray((each) => each.int32());
  r.tags();
  return partition;
}
