export {
  activityItem,
  balances,
  balanceUpdate,
  depositAddress,
  fullBalances,
  POSITION_TABS,
  positionStats,
  profileStats,
  transactionRecord,
} from './account-records.js';
export { MarketLookup } from './market-lookup.js';
export { activeOrder, openPosition, orderRecord, tpslRecord, tpslUpdate, tradeRecord } from './order-records.js';
