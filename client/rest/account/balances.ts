import { type Balance, decodeBalances } from '../../decode/account/wallet.js';
import type { AccountOperation } from './operation.js';

/** `GET /api/user-balances`, part 4.3. */
export const balancesOperation: AccountOperation<void, Balance> = {
  name: 'balances',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest: () => ({ path: '/api/user-balances' }),
  decode: decodeBalances,
};

/** `GET /api/user-balances/full`, part 4.3. */
export const fullBalancesOperation: AccountOperation<void, Balance> = {
  name: 'full-balances',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest: () => ({ path: '/api/user-balances/full' }),
  decode: decodeBalances,
};
