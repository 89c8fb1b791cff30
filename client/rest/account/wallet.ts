import {
  type DepositAddress,
  decodeDepositAddress,
  decodeTransactions,
  type Transaction,
} from '../../decode/account/wallet.js';
import type { AccountOperation } from './operation.js';
import { type PageQuery, pageOf } from './pages.js';

/** `GET /api/transactions`, part 4.3: one page of the account's transactions. Requires a JWT. Default size 20. */
export const transactionsOperation: AccountOperation<PageQuery, Transaction> = {
  name: 'transactions',
  method: 'GET',
  authMethod: 'jwt',
  buildRequest(params) {
    const query = pageOf(params, 20);
    return { path: '/api/transactions', query, about: { page: query.page } };
  },
  decode: decodeTransactions,
};

/** `GET /api/deposit/usdc-address`, part 4.3. Requires a JWT. */
export const depositAddressOperation: AccountOperation<void, DepositAddress> = {
  name: 'deposit-address',
  method: 'GET',
  authMethod: 'jwt',
  buildRequest: () => ({ path: '/api/deposit/usdc-address' }),
  decode: decodeDepositAddress,
};
