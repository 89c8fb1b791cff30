import { encodeEnvelope, type RecordKind } from '../../core/index.js';
import type { TableBlock } from '../../warehouse/index.js';
import { Privacy } from '../record/privacy.js';
import { rawRecords } from '../tables/raw-records.js';
import type { SourcePartition } from '../tables/row-table.js';
import { BatchBuilder } from './batch-builder.js';
import { SessionProgress } from './session-progress.js';

/** A row of `raw_records` with its body. */
export interface StoredRecord {
  readonly offset: number;
  /** Unix microseconds. */
  readonly receivedAt: number;
  readonly sessionId: string;
  readonly sequence: number;
  readonly kind: string;
  /** `json`, `text` or `base64`. */
  readonly encoding: string;
  readonly piece: number;
  readonly pieces: number;
  readonly request: string;
  readonly body: string;
}

/** Table partitions and rows of one insert. */
const LIMITS = { rows: 100_000, bytes: 64e6, bytesWithPieces: 512e6, months: 100 };

/** Makes the rows of one partition's stored records again, in the order of their offsets. */
export class RecordRebuilder {
  readonly #builder: BatchBuilder;

  constructor(source: SourcePartition) {
    const [progress, privacy] = [new SessionProgress(), new Privacy()];
    this.#builder = new BatchBuilder({ source, progress, privacy, bodyDays: 0, limits: LIMITS });
  }

  /** Adds a record; false when `finish` must be called before it. */
  add(record: StoredRecord): boolean {
    const bytes = Buffer.from(envelopeOf(record));
    const bounds = Uint32Array.of(0, bytes.length);
    if (this.#builder.full) return false;
    return this.#builder.add({ firstOffset: record.offset, count: 1, bytes, bounds }) === 1;
  }

  /** The rows since the last call, except those of `raw_records`. */
  finish(): readonly TableBlock[] {
    const blocks = this.#builder.finish()?.blocks ?? [];
    return blocks.filter(({ table }) => table.name !== rawRecords.name);
  }
}

/** The record as it was on the bus. */
function envelopeOf(record: StoredRecord): string {
  const { kind, sessionId, sequence, receivedAt, encoding, piece, pieces, request, body } = record;
  // A piece is stored as the JSON string that it was; another body that is not JSON as its text.
  const isText = encoding !== 'json' && pieces === 1;
  return encodeEnvelope({
    ...{ kind: kind as RecordKind, sessionId, sequence, receivedAt, requestJson: request },
    encoding: encoding === 'text' || encoding === 'base64' ? encoding : undefined,
    piece: pieces > 1 ? { i: piece, of: pieces } : undefined,
    bodyJson: isText ? JSON.stringify(body) : body,
  });
}
