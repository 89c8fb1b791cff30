import { AUDIT_REASONS, type AuditReport, TOPICS } from '../../core/index.js';
import { float, lowCardinality, micros, nullable, oneOf, u32, u64 } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

export interface AuditRow {
  /** When the exchange's prices were received, Unix microseconds. */
  readonly auditedAt: number;
  readonly sessionId: string;
  readonly report: AuditReport;
}

export interface AuditMismatchRow extends AuditRow {
  readonly marketId: string;
  readonly ours: MarketPrices;
  readonly theirs: MarketPrices;
}

/** Prices of a market in YES terms. */
interface MarketPrices {
  /** Price of the last trade. */
  readonly last: number;
  /** Best bid; null when that side is empty. */
  readonly bid: number | null;
  /** Best ask; null when that side is empty. */
  readonly ask: number | null;
}

export const audits = rowLogTable<AuditRow>({
  name: 'audits',
  exported: { topics: [TOPICS.collectorEvents], time: ['audited_at'], order: ['audited_at', 'stream', 'event'] },
  onEveryShardFor: TOPICS.collectorEvents,
  columns: [
    column('audited_at', micros, (row) => row.auditedAt),
    column('session_id', lowCardinality, (row) => row.sessionId),
    column('stream', lowCardinality, (row) => row.report.stream),
    column('connection_id', lowCardinality, (row) => row.report.connectionId),
    column('event', lowCardinality, (row) => row.report.event),
    column('reason', oneOf(...AUDIT_REASONS), (row) => row.report.reason),
    column('last_equal_at', micros, (row) => row.report.lastEqualAt),
    column('changes', u64, (row) => row.report.changes),
    column('compared', u32, (row) => row.report.compared),
    column('changed', u32, (row) => row.report.changed),
    column('missed', u32, (row) => row.report.missed),
    column('late', u32, (row) => row.report.late),
    column('mismatches', u32, (row) => row.report.mismatches.length),
  ],
});

export const auditMismatches = rowLogTable<AuditMismatchRow>({
  name: 'audit_mismatches',
  exported: { topics: [TOPICS.collectorEvents], time: ['audited_at'], order: ['audited_at', 'market'] },
  onEveryShardFor: TOPICS.collectorEvents,
  columns: [
    column('audited_at', micros, (row) => row.auditedAt),
    column('session_id', lowCardinality, (row) => row.sessionId),
    column('stream', lowCardinality, (row) => row.report.stream),
    column('event', lowCardinality, (row) => row.report.event),
    column('market', lowCardinality, (row) => row.marketId),
    column('last_equal_at', micros, (row) => row.report.lastEqualAt),
    column('our_last', float, (row) => row.ours.last),
    column('our_bid', nullable(float), (row) => row.ours.bid),
    column('our_ask', nullable(float), (row) => row.ours.ask),
    column('their_last', float, (row) => row.theirs.last),
    column('their_bid', nullable(float), (row) => row.theirs.bid),
    column('their_ask', nullable(float), (row) => row.theirs.ask),
  ],
});
