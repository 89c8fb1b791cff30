import { lowCardinality, micros, nullable, text, u64 } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** A payload, or a part of one, that could not be understood. */
export interface DeadLetterRow {
  /** Unix microseconds; null when the envelope could not be read. */
  readonly receivedAt: number | null;
  /** Kind, session and number of the record; empty or null when the envelope could not be read. */
  readonly kind: string;
  readonly sessionId: string;
  readonly sequence: number | null;
  /** The WebSocket connection of a stream's frame; else empty. */
  readonly connectionId: string;
  /** Its path in the record, like `d[3].b`; empty for the whole record. */
  readonly jsonPath: string;
  readonly reason: string;
  /** The payload, truncated. */
  readonly payload: string;
  /** Length of the whole payload, in UTF-16 units or, for a whole record, bytes. */
  readonly payloadLength: number;
}

export const deadLetters = rowLogTable<DeadLetterRow>({
  name: 'dead_letters',
  severalTopics: true,
  columns: [
    column('received_at', nullable(micros), (row) => row.receivedAt),
    column('kind', lowCardinality, (row) => row.kind),
    column('session_id', lowCardinality, (row) => row.sessionId),
    column('sequence', nullable(u64), (row) => row.sequence),
    column('connection_id', lowCardinality, (row) => row.connectionId),
    column('json_path', text, (row) => row.jsonPath),
    column('reason', text, (row) => row.reason),
    column('payload', text, (row) => row.payload),
    column('payload_length', u64, (row) => row.payloadLength),
  ],
});
