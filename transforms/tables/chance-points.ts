import { TOPICS } from '../../core/index.js';
import { bool, float, lowCardinality, micros, oneOf } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** A probability of one market, pushed by the chance stream. */
export interface ChancePointRow {
  /** Unix microseconds. */
  readonly receivedAt: number;
  /** Unix microseconds of the exchange's time, which has whole seconds; a fraction is preserved. */
  readonly occurredAt: number;
  /** Empty when the message has the market only. */
  readonly eventId: string;
  readonly marketId: string;
  readonly chance: number;
  /** The last known value after SUBSCRIBE, a live change, or a new aggregated point (UPDATE_HISTORY). */
  readonly source: 'last-known' | 'change' | 'aggregate';
  /** Whether it is a change that equals the previous one of its market from the same connection. */
  readonly repeated: boolean;
}

export const chancePoints = rowLogTable<ChancePointRow>({
  name: 'chance_points',
  exported: { topics: [TOPICS.chance], time: ['occurred_at'], order: ['market', 'occurred_at', 'received_at'] },
  feedsMaterializedViews: true,
  columns: [
    column('received_at', micros, (row) => row.receivedAt),
    column('occurred_at', micros, (row) => row.occurredAt),
    column('event', lowCardinality, (row) => row.eventId),
    column('market', lowCardinality, (row) => row.marketId),
    column('chance', float, (row) => row.chance),
    column('source', oneOf('last-known', 'change', 'aggregate'), (row) => row.source),
    column('repeated', bool, (row) => row.repeated),
  ],
});
