import type { RecordBatch } from '../../bus/index.js';
import { type EnvelopeFields, encodeEnvelope, type RawRecord, type RecordKind } from '../../core/index.js';
import { BatchBuilder, type BatchOptions } from '../../transforms/batch/batch-builder.js';
import { SessionProgress } from '../../transforms/batch/session-progress.js';
import { transformRecord } from '../../transforms/kinds/transform-record.js';
import { Privacy } from '../../transforms/record/privacy.js';
import { RecordOutput } from '../../transforms/record/record-output.js';

export const AT = Date.UTC(2026, 1, 3, 4, 5, 6) * 1000 + 123_456;
export const SID = '3b1f0000-0000-4000-8000-000000000001';
export const EVENT = 'e0000000-0000-4000-8000-000000000001';
export const MARKET = 'a0000000-0000-4000-8000-000000000001';
export const OTHER_MARKET = 'a0000000-0000-4000-8000-000000000002';
export const STREAM_REQ = { stream: 'order-book', connection: 'c0000000-0000-4000-8000-000000000001' };

/** A record of a kind with this body. */
export function record(kind: RecordKind, body: unknown, fields: Partial<RawRecord> = {}): RawRecord {
  return { kind, sessionId: SID, sequence: 1, receivedAt: AT, request: {}, body, ...fields };
}

/** The output of a record of a kind with this body. */
export function transformed(
  kind: RecordKind,
  body: unknown,
  fields: Partial<RawRecord> = {},
  text?: string,
  privacy = new Privacy(),
): RecordOutput {
  const output = new RecordOutput(privacy.mayStoreBodyOf(kind));
  const bodyText = () => text ?? (fields.encoding === undefined ? JSON.stringify(body) : String(body));
  transformRecord({ record: record(kind, body, fields), bodyText, privacy }, output);
  return output;
}

/** A record's value on the bus. */
export function envelope(fields: Partial<EnvelopeFields> & { bodyJson: string }): Buffer {
  const req = JSON.stringify(STREAM_REQ);
  return Buffer.from(
    encodeEnvelope({
      kind: 'order-book.frame',
      sessionId: SID,
      sequence: 1,
      receivedAt: AT,
      requestJson: req,
      ...fields,
    }),
  );
}

/** An order book record with one price. */
export function priceRecord(n: number, last = 0.5, market = MARKET): Buffer {
  return envelope({ sequence: n, bodyJson: delta([{ o: market, c: last, b: 0.49, a: 0.51 }]) });
}

export function delta(d: readonly unknown[], e = EVENT): string {
  return JSON.stringify({ t: 'PRICES_DATA_DELTA', e, d });
}

/** Values as delivered by a bus. */
export function recordBatch(values: readonly Uint8Array[], firstOffset = 0): RecordBatch {
  const bounds = new Uint32Array(2 * values.length);
  for (let i = 0, size = 0; i < values.length; i++) {
    bounds[2 * i] = size;
    size += values[i]?.length ?? 0;
    bounds[2 * i + 1] = size;
  }
  return { firstOffset, count: values.length, bytes: Buffer.concat(values), bounds };
}

export const SOURCE_PARTITION = { topic: 'chancery.order-book', log: 'log-1', partition: 2 };

export function builder(options: Partial<BatchOptions> = {}): BatchBuilder {
  const limits = { rows: 100_000, bytes: 100_000_000, bytesWithPieces: 200_000_000, months: 8 };
  const privacy = new Privacy();
  const progress = new SessionProgress();
  return new BatchBuilder({ source: SOURCE_PARTITION, progress, bodyDays: 30, privacy, limits, ...options });
}

/** Rows per table of a built batch. */
export function rowCounts(built: ReturnType<BatchBuilder['finish']>): Record<string, number> {
  return Object.fromEntries((built?.blocks ?? []).map((block) => [block.table.name, block.rows]));
}
