import { decodeTrades, type TradeRecord } from '../../client/index.js';
import { tradeRecords } from '../tables/trade-records.js';
import { type AccountContext, accountAnswer } from './account-answer.js';
import { areExact } from './amounts.js';
import { areSaneIds } from './ids.js';

/** A page of an account's trades (part 4.4) → `trade_records`. */
export const transformTrades = accountAnswer(decodeTrades, (trade: TradeRecord, { answer, output }: AccountContext) => {
  const { tradeRecordId, tradeId, userId, orderId, eventId, marketId, assetId, quantity, price, fee } = trade;
  const ids = { i: tradeRecordId, t: tradeId, u: userId, or: orderId, e: eventId, o: marketId, a: assetId };
  if (!areSaneIds(ids, output)) return false;
  if (!areExact(`trade ${tradeRecordId}`, { q: quantity, p: price, f: fee }, trade, output)) return false;
  output.row(tradeRecords, { answer, record: trade });
  return true;
});
