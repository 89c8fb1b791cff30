import { collectorEventSchema } from '../../core/index.js';
import { collectorEvents } from '../tables/collector-events.js';
import { polls } from '../tables/polls.js';
import type { Transform } from './transform.js';

/** A collector event → `collector_events`; the receipt of a poll → `polls`. */
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
  if (parsed.data.type === 'poll') output.row(polls, { sessionId, finishedAt: receivedAt, receipt: parsed.data });
  else output.row(collectorEvents, { recordedAt: receivedAt, sessionId, sequence, event: parsed.data });
};
