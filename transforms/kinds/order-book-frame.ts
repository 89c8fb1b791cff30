import { decodeOrderBookMessage } from '../../client/index.js';
import type { RecordOutput } from '../record/record-output.js';
import { countExtra } from './extra-fields.js';
import { isSaneId } from './ids.js';
import { addWithoutRows } from './no-rows.js';
import type { Received, Transform } from './transform.js';

const FRAME_FIELDS = new Set(['t', 'e', 'd', 'r']);
const ENTRY_FIELDS = new Set(['o', 'c', 'b', 'a']);

/** A frame of the order book stream (interface part 6.1) → `price_ticks`. */
export const transformOrderBookFrame: Transform = (received, output) => {
  const message = decodeOrderBookMessage(received.body);
  switch (message.type) {
    case 'prices':
      if (!isSaneId(message.eventId, 'e', output)) return;
      for (const price of message.prices) {
        if (!isSaneId(price.marketId, 'd', output)) continue;
        output.priceTicks.push({
          receivedAt: received.record.receivedAt,
          eventId: message.eventId,
          marketId: price.marketId,
          last: price.chance,
          bid: sideOf(price.bestBid),
          ask: sideOf(price.bestAsk),
          source: message.snapshot ? 'snapshot' : 'delta',
        });
      }
      output.deadEntries(message);
      countExtraFields(received, output);
      return;
    case 'subscribed':
    case 'unsubscribed':
    case 'ping':
      return;
    default:
      addWithoutRows(message, received, output);
  }
};

/**
 * A side of the book: orders are priced 0.01 to 0.99 (part 8), so that 0 and 1 are no order's price but say that the
 * side is empty (a bid of 0, an ask of 1).
 */
function sideOf(price: number): number | null {
  return price === 0 || price === 1 ? null : price;
}

function countExtraFields(received: Received, output: RecordOutput): void {
  const frame = received.body as { readonly d: readonly unknown[] };
  let extra = countExtra(frame, FRAME_FIELDS);
  for (const entry of frame.d) extra += countExtra(entry, ENTRY_FIELDS);
  output.countExtraFields(extra);
}
