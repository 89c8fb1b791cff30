import type { Request } from './request.js';

interface NewTopic {
  readonly name: string;
  readonly partitions: number;
  readonly replication: number;
  readonly configs: Readonly<Record<string, string>>;
}

/** Creates topics; the response has an error code and message per topic. */
export function createTopicsRequest(
  topics: readonly NewTopic[],
  waitMs: number,
): Request<{ name: string; error: number; message: string }[]> {
  return {
    name: 'CreateTopics',
    key: 19,
    version: 4,
    flexible: false,
    waitMs,
    encode(writer) {
      writer
        .array(topics, (topic, w) =>
          w
            .string(topic.name)
            .int32(topic.partitions)
            .int16(topic.replication)
            .array([], () => undefined)
            .array(Object.entries(topic.configs), ([name, value]) => w.string(name).string(value)),
        )
        .int32(waitMs)
        .boolean(false);
    },
    decode(reader) {
      reader.int32();
      return reader.array((r) => ({ name: r.string(), error: r.int16(), message: r.string() }));
    },
  };
}
