import { type BalanceStreamMessage, decodeBalanceStreamMessage } from '../decode/account/balance-stream.js';
import { PrivateStream, type PrivateStreamOptions } from './private-stream.js';

/**
 * The balance stream of an account, part 6.4: all balances after every connect, then every change. Sends AUTH after every
 * reconnect. Use the handlers, or iterate over it; `start` connects.
 */
export class BalanceStream extends PrivateStream<BalanceStreamMessage> {
  /** @throws AddressError */
  constructor(options: PrivateStreamOptions<BalanceStreamMessage>) {
    super({ host: 'balanceWs', decode: decodeBalanceStreamMessage }, options);
  }
}
