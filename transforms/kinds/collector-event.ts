import { type AuditedPrices, collectorEventSchema } from '../../core/index.js';
import { auditMismatches, audits } from '../tables/audits.js';
import { collectorEvents } from '../tables/collector-events.js';
import { polls } from '../tables/polls.js';
import { bestPrice } from './best-price.js';
import type { Transform } from './transform.js';

/** A collector event → `collector_events`; the receipt of a poll → `polls`; an audit → `audits`, `audit_mismatches`. */
export const transformCollectorEvent: Transform = ({ record, body, bodyText }, output) => {
  const parsed = collectorEventSchema.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    output.dead(
      { path: issue?.path.join('.') ?? '', reason: issue?.message ?? 'is not a collector event' },
      bodyText(),
    );
    return;
  }
  const { sessionId, sequence, receivedAt } = record;
  const event = parsed.data;
  if (event.type === 'poll') {
    output.row(polls, { sessionId, finishedAt: receivedAt, receipt: event });
  } else if (event.type === 'audited') {
    const audit = { auditedAt: receivedAt, sessionId, report: event };
    output.row(audits, audit);
    for (const { market, ours, theirs } of event.mismatches) {
      output.row(auditMismatches, { ...audit, marketId: market, ours: pricesOf(ours), theirs: pricesOf(theirs) });
    }
  } else {
    output.row(collectorEvents, { recordedAt: receivedAt, sessionId, sequence, event });
  }
};

const pricesOf = ({ last, bid, ask }: AuditedPrices) => ({ last, bid: bestPrice(bid), ask: bestPrice(ask) });
