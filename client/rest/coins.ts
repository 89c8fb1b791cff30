import { type Coin, decodeCoins } from '../decode/reference.js';
import type { Operation } from './operation.js';

/** `GET /api/coins`, part 4.3. */
export const coinsOperation: Operation<void, Coin> = {
  name: 'coins',
  method: 'GET',
  buildRequest: () => ({ path: '/api/coins' }),
  decode: decodeCoins,
};
