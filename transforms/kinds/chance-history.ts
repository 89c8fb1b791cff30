import { decodeChanceHistory } from '../../client/index.js';
import { chanceHistoryPoints } from '../tables/chance-history-points.js';
import { observedPoints } from './chance-history-points.js';
import { numberIn, textIn } from './request-fields.js';
import type { Transform } from './transform.js';

/** A response of the chance history endpoint (part 4.5) → `chance_history_points`. */
export const transformChanceHistory: Transform = (received, output) => {
  const { request: req, receivedAt: at } = received.record;
  const eventId = textIn(req, 'event');
  const marketId = textIn(req, 'market');
  if (eventId === undefined || marketId === undefined) {
    const path = `req.${eventId === undefined ? 'event' : 'market'}`;
    output.dead({ path, reason: 'expected what was requested, got nothing' }, received.bodyText());
    return;
  }
  const answer = decodeChanceHistory(received.body, marketId);
  if (!answer.ok) {
    output.dead(answer, received.bodyText());
    return;
  }
  const period = textIn(req, 'period') ?? 'raw';
  const range = { from: numberIn(req, 'from'), to: numberIn(req, 'to') };
  for (const point of observedPoints(received.body, answer.items, range)) {
    output.row(chanceHistoryPoints, { ...point, receivedAt: at, eventId, marketId, period, source: 'rest' });
  }
  output.deadEntries(answer);
  output.countExtraFields(answer.extraFields.length);
};
