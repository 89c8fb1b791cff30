import { type BalanceStreamMessage, decodeBalanceStreamMessage } from '../../client/index.js';
import type { RecordOutput } from '../record/record-output.js';
import { type BalanceUpdateRow, balanceUpdates } from '../tables/balance-updates.js';
import { accountOf, losslessBody } from './account-list.js';
import { areExact } from './amounts.js';
import { areValidIds } from './ids.js';
import { addWithoutRows } from './no-rows.js';
import { textIn } from './request-fields.js';
import type { Transform } from './transform.js';

type Origin = Pick<BalanceUpdateRow, 'receivedAt' | 'account' | 'connection'>;

/** A frame of the balance stream (part 6.4) → `balance_updates`. */
export const transformBalanceFrame: Transform = (received, output) => {
  const body = losslessBody(received, output);
  const account = accountOf(received, output);
  if (body === undefined || account === undefined) return;
  const { receivedAt: at, request: req } = received.record;
  const origin = { receivedAt: at, account, connection: textIn(req, 'connection') ?? '' };
  const message = decodeBalanceStreamMessage(body);
  switch (message.type) {
    case 'balances':
      addList(message, origin, output);
      return;
    case 'balance-update': {
      const { type, ...update } = message;
      add({ ...origin, ...update, source: 'update' }, 'balance', output);
      return;
    }
    case 'authorized':
    case 'ping':
      return;
    default:
      addWithoutRows(message, received, output);
  }
};

function addList(
  list: Extract<BalanceStreamMessage, { type: 'balances' }>,
  origin: Origin,
  output: RecordOutput,
): void {
  for (const { assetId, balance, free } of list.balances) {
    const unsaid = { userId: null, cost: null, averageOpenPrice: null };
    add({ ...origin, ...unsaid, source: 'list', assetId, balance, free }, `balance ${assetId}`, output);
  }
  output.deadEntries(list);
}

function add(row: BalanceUpdateRow, what: string, output: RecordOutput): void {
  const { userId, assetId, balance, free, cost } = row;
  if (!areValidIds({ a: assetId, u: userId }, output)) return;
  if (areExact(what, { b: balance, f: free, c: cost }, row, output)) output.row(balanceUpdates, row);
}
