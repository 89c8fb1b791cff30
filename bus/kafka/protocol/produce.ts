import type { Request } from './request.js';

export interface ProduceResponse {
  readonly partition: number;
  readonly error: number;
  readonly message: string | null;
  /** Offset of the batch's first record. */
  readonly offset: number;
}

/** Version 8 with acks=all: one record batch for each named partition. */
export function produceRequest(
  topic: string,
  batches: readonly { readonly partition: number; readonly bytes: Buffer }[],
  waitMs: number,
): Request<ProduceResponse[]> {
  return {
    name: 'Produce',
    key: 0,
    version: 8,
    flexible: false,
    waitMs,
    encode(writer) {
      writer
        .string(null)
        .int16(-1)
        .int32(waitMs)
        .array([topic], (name, w) =>
          w.string(name).array(batches, (batch) => w.int32(batch.partition).sizedBytes(batch.bytes)),
        );
    },
    decode(reader) {
      const topics = reader.array((r) => {
        r.string();
        return r.array(() => {
          const fields = { partition: r.int32(), error: r.int16(), offset: r.int64() };
          r.int64();
          r.int64();
          r.array(() => {
            r.int32();
            r.nullableString();
          });
          return { ...fields, message: r.nullableString() };
        });
      });
      return topics.flat();
    },
  };
}

interface InitProducerIdResponse {
  readonly id: number;
  readonly epoch: number;
  readonly error: number;
}

/** Requests a producer ID, by which the broker recognises retried batches. */
export function initProducerIdRequest(): Request<InitProducerIdResponse> {
  return {
    name: 'InitProducerId',
    key: 22,
    version: 1,
    flexible: false,
    encode(writer) {
      writer.string(null).int32(0);
    },
    decode(reader) {
      reader.int32();
      const error = reader.int16();
      return { error, id: reader.int64(), epoch: reader.int16() };
    },
  };
}
