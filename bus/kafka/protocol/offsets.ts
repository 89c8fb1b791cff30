import type { Request } from './request.js';

interface ListedOffset {
  readonly topic: string;
  readonly partition: number;
  readonly error: number;
  readonly offset: number;
}

/** Log start offset (`begin`) or log end offset (`end`) of partitions. */
export function listOffsetsRequest(
  partitions: readonly { readonly topic: string; readonly partition: number }[],
  which: 'begin' | 'end',
): Request<ListedOffset[]> {
  const topics = [...new Set(partitions.map((p) => p.topic))];
  return {
    name: 'ListOffsets',
    key: 2,
    version: 5,
    flexible: false,
    encode(writer) {
      writer
        .int32(-1)
        .int8(0)
        .array(topics, (topic, w) => {
          const those = partitions.filter((p) => p.topic === topic);
          w.string(topic).array(those, (p) => {
            w.int32(p.partition)
              .int32(-1)
              .int64(which === 'begin' ? -2 : -1);
          });
        });
    },
    decode(reader) {
      reader.int32();
      const topics = reader.array((r) => {
        const topic = r.string();
        return r.array(() => {
          const fields = { topic, partition: r.int32(), error: r.int16() };
          r.int64();
          const offset = r.int64();
          r.int32();
          return { ...fields, offset };
        });
      });
      return topics.flat();
    },
  };
}

interface OffsetCommit {
  readonly group: string;
  readonly generation: number;
  readonly member: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
}

/** Commits one partition's offset; returns the error code. */
export function offsetCommitRequest(commit: OffsetCommit): Request<number> {
  return {
    name: 'OffsetCommit',
    key: 8,
    version: 7,
    flexible: false,
    encode(writer) {
      writer
        .string(commit.group)
        .int32(commit.generation)
        .string(commit.member)
        .string(null)
        .array([commit], ({ topic }, w) =>
          w.string(topic).array([commit], (c) => w.int32(c.partition).int64(c.offset).int32(-1).string(c.metadata)),
        );
    },
    decode(reader) {
      reader.int32();
      const errors = reader.array((r) => {
        r.string();
        return r.array(() => {
          r.int32();
          return r.int16();
        });
      });
      return errors.flat().find((error) => error !== 0) ?? 0;
    },
  };
}

export interface FetchedOffset {
  readonly topic: string;
  readonly partition: number;
  /** -1 without a committed offset. */
  readonly offset: number;
  readonly metadata: string;
  readonly error: number;
}

/** The committed offsets of a group: of the named partitions, or of all that it committed (null). */
export function offsetFetchRequest(
  group: string,
  partitions: readonly { readonly topic: string; readonly partition: number }[] | null,
): Request<{ error: number; offsets: FetchedOffset[] }> {
  return {
    name: 'OffsetFetch',
    key: 9,
    version: 5,
    flexible: false,
    encode(writer) {
      writer.string(group);
      if (partitions === null) writer.int32(-1);
      else writer.array(partitions, (p, w) => w.string(p.topic).array([p.partition], (each) => w.int32(each)));
    },
    decode(reader) {
      reader.int32();
      const topics = reader.array((r) => {
        const topic = r.string();
        return r.array(() => {
          const fields = { topic, partition: r.int32(), offset: r.int64() };
          r.int32();
          return { ...fields, metadata: r.string(), error: r.int16() };
        });
      });
      return { offsets: topics.flat(), error: reader.int16() };
    },
  };
}
