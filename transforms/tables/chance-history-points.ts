import { TOPICS } from '../../core/index.js';
import { float, lowCardinality, micros, oneOf } from './column-types.js';
import { column, rowReplacingTable } from './row-table.js';

/** A point of requested chance history. Anchors and flat lines are not points and do not become rows. */
export interface ChanceHistoryPointRow {
  /** Unix microseconds. */
  readonly receivedAt: number;
  /** Empty when the message has the market only. */
  readonly eventId: string;
  readonly marketId: string;
  /** Period code; `raw` when none was requested, empty when the request is unknown. */
  readonly period: string;
  /** Unix microseconds of the exchange's time; for a period, its end. */
  readonly occurredAt: number;
  readonly chance: number;
  readonly source: 'rest' | 'stream';
}

export const chanceHistoryPoints = rowReplacingTable<ChanceHistoryPointRow>({
  name: 'chance_history_points',
  exported: { topics: [TOPICS.chance], time: ['occurred_at'], order: ['market', 'event', 'period', 'occurred_at'] },
  id: ['market', 'event', 'period', 'occurred_at'],
  version: 'received_at',
  feedsMaterializedViews: true,
  columns: [
    column('received_at', micros, (row) => row.receivedAt),
    column('event', lowCardinality, (row) => row.eventId),
    column('market', lowCardinality, (row) => row.marketId),
    column('period', lowCardinality, (row) => row.period),
    column('occurred_at', micros, (row) => row.occurredAt),
    column('chance', float, (row) => row.chance),
    column('source', oneOf('rest', 'stream'), (row) => row.source),
  ],
});
