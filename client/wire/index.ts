export {
  type ActivityWire,
  activitySchema,
  type BalanceWire,
  balanceSchema,
  type DepositAddressWire,
  depositAddressSchema,
  type PositionStatsWire,
  type ProfileStatsWire,
  positionStatsSchema,
  profileStatsSchema,
  type TransactionWire,
  transactionSchema,
} from './account-records.js';
export {
  type BalanceUpdateWire,
  balanceUpdateSchema,
  orderUpdateSchema,
  type TpslUpdateWire,
  tpslUpdateSchema,
} from './account-streams.js';
export {
  API_KEY_HEADERS,
  type ApiKeyWire,
  type CreateApiKeyRequestWire,
  type StreamAuthWire,
  streamAuthSchema,
  TIMESTAMP_WINDOW_SECONDS,
} from './auth.js';
export { categorySchema } from './category.js';
export { type ChancePointWire, chancePointSchema, PERIOD_CODES, periodSchema } from './chance.js';
export {
  type ChanceClientMessageWire,
  chanceClientMessageSchema,
  chanceEnvelopeSchema,
} from './chance-stream.js';
export { coinSchema } from './coin.js';
export { type Decimal, decimalSchema, toDecimal } from './decimal.js';
export {
  eventSchema,
  outcomeSchema,
  runnerMarketSchema,
  runnerSchema,
  SEARCH_DIRECTIONS,
  SEARCH_LANGUAGES,
  SEARCH_SORTS,
  type SearchRequestWire,
  searchRequestSchema,
} from './event-search.js';
export { instantSchema, parseIsoMicros } from './instant.js';
export { JsonNumber, type LosslessJson, parseLossless, stringifyLossless } from './json-number.js';
export {
  type OrderBookClientMessageWire,
  orderBookClientMessageSchema,
  orderBookEnvelopeSchema,
  priceEntrySchema,
  pricesMessageSchema,
} from './order-book-stream.js';
export {
  type ActiveOrderWire,
  activeOrderSchema,
  type OpenPositionWire,
  type OrderRecordWire,
  openPositionSchema,
  orderRecordSchema,
  type TpslOrderWire,
  type TradeRecordWire,
  tpslOrderSchema,
  tradeRecordSchema,
} from './order-records.js';
export {
  limitOrderRequestSchema,
  MAX_PRICE,
  type MarketOrderRequestWire,
  MIN_PRICE,
  marketOrderRequestSchema,
  placementSchema,
  SIDES,
  type Side,
  tpslRequestSchema,
} from './orders.js';
export { restErrorSchema } from './rest-error.js';
export { idSchema, MAX_UNIX_SECONDS, numericSchema, probabilitySchema, unixSecondsSchema } from './scalars.js';
export { tagSchema } from './tag.js';
export { describeValue, explainIssue, joinJsonPath, type ValidationIssue } from './validation-issue.js';
