import type { z } from 'zod';
import { COLLECTOR_EVENT_FIELDS, COLLECTOR_EVENT_TYPES, type CollectorEvent, TOPICS } from '../../core/index.js';
import { type ColumnType, counts, lowCardinality, micros, nullable, text, texts, u64 } from './column-types.js';
import { column, type RowColumn, rowLogTable } from './row-table.js';

export interface CollectorEventRow {
  /** Time of the event, Unix microseconds. */
  readonly recordedAt: number;
  readonly sessionId: string;
  readonly sequence: number;
  /** Fields that events of this type do not have are empty or NULL. */
  readonly event: Exclude<CollectorEvent, { type: 'poll' | 'audited' }>;
}

/** The column type of each type of field, and the value of events without it. */
const COLUMNS = new Map<z.ZodType, readonly [type: ColumnType<never>, absent: unknown]>([
  [COLLECTOR_EVENT_TYPES.name, [lowCardinality, '']],
  [COLLECTOR_EVENT_TYPES.stream, [lowCardinality, '']],
  [COLLECTOR_EVENT_TYPES.text, [text, '']],
  [COLLECTOR_EVENT_TYPES.names, [texts, []]],
  [COLLECTOR_EVENT_TYPES.time, [nullable(micros), null]],
  [COLLECTOR_EVENT_TYPES.counts, [counts, {}]],
]);

function fieldColumn([field, schema]: [string, z.ZodType]): RowColumn<CollectorEventRow> {
  const found = COLUMNS.get(schema);
  if (!found) throw new TypeError(`the field ${field} of collector events has no column type`);
  const [type, absent] = found;
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const get = ({ event }: CollectorEventRow) => (event as Readonly<Record<string, unknown>>)[field] ?? absent;
  return column<CollectorEventRow, never>(name, type, get as (row: CollectorEventRow) => never);
}

export const collectorEvents = rowLogTable<CollectorEventRow>({
  name: 'collector_events',
  onEveryShardFor: TOPICS.collectorEvents,
  feedsMaterializedViews: true,
  columns: [
    column('recorded_at', micros, (row) => row.recordedAt),
    column('session_id', lowCardinality, (row) => row.sessionId),
    column('sequence', u64, (row) => row.sequence),
    column('type', lowCardinality, (row) => row.event.type),
    ...Object.entries(COLLECTOR_EVENT_FIELDS).map(fieldColumn),
  ],
});
