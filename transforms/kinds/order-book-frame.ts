import { decodeOrderBookMessage } from '../../client/index.js';
import type { RecordOutput } from '../record/record-output.js';
import { bestPrice } from './best-price.js';
import { countExtra } from './extra-fields.js';
import { isValidId } from './ids.js';
import { addWithoutRows } from './no-rows.js';
import { repeatedEntries } from './request-fields.js';
import type { Received, Transform } from './transform.js';

const FRAME_FIELDS = new Set(['t', 'e', 'd', 'r']);
const ENTRY_FIELDS = new Set(['o', 'c', 'b', 'a']);

/** A frame of the order book stream (interface part 6.1) → `price_ticks`. */
export const transformOrderBookFrame: Transform = (received, output) => {
  const message = decodeOrderBookMessage(received.body);
  switch (message.type) {
    case 'prices': {
      if (!isValidId(message.eventId, 'e', output)) return;
      const repeated = message.snapshot ? undefined : repeatedEntries(received.record.request);
      for (const [entry, price] of message.prices.entries()) {
        if (!isValidId(price.marketId, 'd', output)) continue;
        output.priceTicks.push({
          receivedAt: received.record.receivedAt,
          eventId: message.eventId,
          marketId: price.marketId,
          last: price.chance,
          bid: bestPrice(price.bestBid),
          ask: bestPrice(price.bestAsk),
          source: message.snapshot ? 'snapshot' : 'delta',
          repeated: repeated?.has(entry) ?? false,
        });
      }
      output.deadEntries(message);
      countExtraFields(received, output);
      return;
    }
    case 'subscribed':
    case 'unsubscribed':
    case 'ping':
      return;
    default:
      addWithoutRows(message, received, output);
  }
};

function countExtraFields(received: Received, output: RecordOutput): void {
  const frame = received.body as { readonly d: readonly unknown[] };
  let extra = countExtra(frame, FRAME_FIELDS);
  for (const entry of frame.d) extra += countExtra(entry, ENTRY_FIELDS);
  output.countExtraFields(extra);
}
