import type { Request } from './request.js';

interface FetchPartition {
  /** Topic ID: a topic that was created again under the same name has another one. */
  readonly log: string;
  readonly partition: number;
  readonly offset: number;
  readonly maxBytes: number;
}

export interface FetchedPartition {
  readonly log: string;
  readonly partition: number;
  readonly error: number;
  /** High watermark; -1 with an error. */
  readonly end: number;
  /** Record batches; may begin before the requested offset and end within a batch. */
  readonly records: Buffer;
}

export interface FetchResponse {
  readonly error: number;
  /** The complete response; the records are views of it. */
  readonly bytes: Buffer;
  readonly partitions: readonly FetchedPartition[];
}

/** Version 13: the first with topic IDs. The broker waits up to `waitMs` for a first byte. */
export function fetchRequest(
  partitions: readonly FetchPartition[],
  limits: { waitMs: number; maxBytes: number },
): Request<FetchResponse> {
  const byLog = new Map<string, FetchPartition[]>();
  for (const p of partitions) byLog.set(p.log, [...(byLog.get(p.log) ?? []), p]);
  return {
    name: 'Fetch',
    key: 1,
    version: 13,
    flexible: true,
    waitMs: limits.waitMs,
    encode(writer) {
      writer.int32(-1).int32(limits.waitMs).int32(1).int32(limits.maxBytes).int8(0);
      // No fetch session: each request names its partitions.
      writer.int32(0).int32(-1);
      writer.compactArray([...byLog], ([log, those], w) =>
        w
          .uuid(log)
          .compactArray(those, (p) => {
            w.int32(p.partition).int32(-1).int64(p.offset).int32(-1).int64(-1).int32(p.maxBytes).noTags();
          })
          .noTags(),
      );
      writer
        .compactArray([], () => undefined)
        .compactString('')
        .noTags();
    },
    decode(reader) {
      reader.int32();
      const error = reader.int16();
      reader.int32();
      const topics = reader.compactArray((r) => {
        const log = r.uuid();
        const fetched = r.compactArray(() => {
          const fields = { log, partition: r.int32(), error: r.int16(), end: r.int64() };
          r.int64();
          r.int64();
          r.compactArray(() => {
            r.int64();
            r.int64();
            r.tags();
          });
          r.int32();
          const records = r.compactBytes();
          r.tags();
          return { ...fields, records };
        });
        r.tags();
        return fetched;
      });
      return { error, bytes: reader.all, partitions: topics.flat() };
    },
  };
}
