import { decodeOrderStreamMessage, type OrderStreamMessage } from '../decode/account/order-stream.js';
import { PrivateStream, type PrivateStreamOptions } from './private-stream.js';

/**
 * The order updates stream of an account, part 6.3: orders that were placed or failed, and TP/SL orders that changed.
 * Sends AUTH after every reconnect. Updates that happen without a connection are not sent later. Use the handlers, or
 * iterate over it; `start` connects.
 */
export class OrderUpdateStream extends PrivateStream<OrderStreamMessage> {
  /** @throws AddressError */
  constructor(options: PrivateStreamOptions<OrderStreamMessage>) {
    super({ host: 'orderWs', decode: decodeOrderStreamMessage }, options);
  }
}
