import { type ChanceMessage, decodeChanceMessage } from '../../client/index.js';
import type { RecordOutput } from '../record/record-output.js';
import { chanceHistoryPoints } from '../tables/chance-history-points.js';
import { chancePoints } from '../tables/chance-points.js';
import { microsOf, observedPoints } from './chance-history-points.js';
import { countExtra } from './extra-fields.js';
import { isValidId } from './ids.js';
import { addWithoutRows } from './no-rows.js';
import { numberIn, repeatedEntries, textIn } from './request-fields.js';
import type { Received, Transform } from './transform.js';

const FRAME_FIELDS = new Set(['t', 'e', 'o', 'd', 'r']);
/** How far the time of a point may be after its receipt, microseconds: the exchange's clock may be ahead of ours. */
const MAX_AHEAD_MICROS = 300e6;

/**
 * A frame of the chance stream (part 6.2) → `chance_points`; a response to HISTORY → `chance_history_points`, with the
 * requested range and period if `req` has them.
 */
export const transformChanceFrame: Transform = (received, output) => {
  const message = decodeChanceMessage(received.body);
  switch (message.type) {
    case 'probability':
    case 'aggregated':
    case 'history':
      if (!isValidId(message.eventId ?? '', 'e', output)) return;
      if (message.type === 'history') addHistory(message, received, output);
      else addPoints(message, received, output);
      output.deadEntries(message);
      output.countExtraFields(countExtra(received.body, FRAME_FIELDS));
      return;
    case 'success':
    case 'ping':
      return;
    default:
      addWithoutRows(message, received, output);
  }
};

type PointsMessage = Extract<ChanceMessage, { type: 'probability' | 'aggregated' }>;
type Point = PointsMessage['points'][number];
type HistoryMessage = Extract<ChanceMessage, { type: 'history' }>;

function addPoints(message: PointsMessage, received: Received, output: RecordOutput): void {
  const eventId = message.eventId ?? '';
  const source = message.type === 'aggregated' ? 'aggregate' : message.initial ? 'last-known' : 'change';
  const repeated = source === 'change' ? repeatedEntries(received.record.request) : undefined;
  for (const [number, point] of message.points.entries()) {
    if (!isValidId(point.marketId, 'd', output) || isAhead(point, received, output)) continue;
    output.row(chancePoints, {
      receivedAt: received.record.receivedAt,
      occurredAt: microsOf(point.time),
      eventId,
      marketId: point.marketId,
      chance: point.probability,
      source,
      repeated: repeated?.has(number) ?? false,
    });
  }
}

/** A point of the future would be the latest chance of its market until that time: it is a dead letter. */
function isAhead(point: Point, { record, body }: Received, output: RecordOutput): boolean {
  if (microsOf(point.time) <= record.receivedAt + MAX_AHEAD_MICROS) return false;
  const { d } = body as { readonly d: Readonly<Record<string, unknown>> };
  const path = point.marketId in d ? `d.${point.marketId}.t` : 'd.t';
  const reason =
    `expected a time at most ${MAX_AHEAD_MICROS / 60e6} minutes after its receipt; ` +
    'if no chance is recorded any more, synchronise the clock of this machine';
  output.dead({ path, reason }, JSON.stringify({ t: point.time, p: point.probability }));
  return true;
}

function addHistory(message: HistoryMessage, received: Received, output: RecordOutput): void {
  const { request: req, receivedAt: at } = received.record;
  const eventId = message.eventId ?? '';
  const range = { from: numberIn(req, 'from'), to: numberIn(req, 'to') };
  const period = textIn(req, 'period') ?? (range.from === undefined ? '' : 'raw');
  const series = (received.body as { readonly d: Readonly<Record<string, unknown>> }).d;
  for (const { marketId, points } of message.series) {
    if (!isValidId(marketId, 'd', output)) continue;
    for (const point of observedPoints(series[marketId], points, range)) {
      output.row(chanceHistoryPoints, { ...point, receivedAt: at, eventId, marketId, period, source: 'stream' });
    }
  }
}
