import { type Balance, decodeBalances, decodeTransactions, type Transaction } from '../../client/index.js';
import { balanceObservations } from '../tables/balance-observations.js';
import { transactionRecords } from '../tables/transaction-records.js';
import { type AccountContext, accountList } from './account-list.js';
import { areExact, exactOrDead } from './amounts.js';
import { areValidIds } from './ids.js';

/** An account's balances (part 4.3), plain or full → `balance_observations`. */
export const transformBalances = accountList(decodeBalances, (balance: Balance, { answer, output }: AccountContext) => {
  const { assetId } = balance;
  if (!areValidIds({ i: assetId }, output)) return false;
  const what = `balance ${assetId}`;
  if (!areExact(what, { b: balance.balance, f: balance.free }, balance, output)) return false;
  const value = exactOrDead(balance.value, `${what} v`, output);
  output.row(balanceObservations, { answer, record: { ...balance, value } });
  return true;
});

/** A page of an account's transactions (part 4.3) → `transaction_records`. */
export const transformTransactions = accountList(
  decodeTransactions,
  (transaction: Transaction, { answer, output }: AccountContext) => {
    const { transactionId, userId, assetId, amount, fee } = transaction;
    if (!areValidIds({ i: transactionId, u: userId, a: assetId }, output)) return false;
    if (!areExact(`transaction ${transactionId}`, { am: amount, f: fee }, transaction, output)) return false;
    output.row(transactionRecords, { answer, record: transaction });
    return true;
  },
);
