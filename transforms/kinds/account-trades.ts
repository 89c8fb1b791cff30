import { decodeTrades, type TradeRecord } from '../../client/index.js';
import { tradeRecords } from '../tables/trade-records.js';
import { type AccountContext, accountList } from './account-list.js';
import { areExact } from './amounts.js';
import { areValidIds } from './ids.js';
import { numberIn } from './request-fields.js';

/** A page of an account's trades (part 4.4) → `trade_records`. */
export const transformTrades = accountList(decodeTrades, (trade: TradeRecord, context: AccountContext) => {
  const { answer, received, output } = context;
  const { tradeRecordId, tradeId, userId, orderId, eventId, marketId, assetId, quantity, price, fee } = trade;
  const ids = { i: tradeRecordId, t: tradeId, u: userId, or: orderId, e: eventId, o: marketId, a: assetId };
  if (!areValidIds(ids, output)) return false;
  if (!areExact(`trade ${tradeRecordId}`, { q: quantity, p: price, f: fee }, trade, output)) return false;
  const passBeganAt = numberIn(received.record.request, 'pass') ?? answer.receivedAt;
  output.row(tradeRecords, { answer, record: trade, passBeganAt });
  return true;
});
