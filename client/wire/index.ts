export {
  type ActivityWire,
  activitySchema,
  type BalanceWire,
  balanceSchema,
  type DepositAddressWire,
  depositAddressSchema,
  type PageWire,
  type PositionStatsWire,
  type ProfileStatsWire,
  positionStatsSchema,
  profileStatsSchema,
  type TransactionWire,
  transactionSchema,
} from './account-records.js';
export {
  type BalanceStreamMessageWire,
  type BalanceUpdateWire,
  balanceListSchema,
  balanceUpdateSchema,
  ORDER_STREAM_SERVER_TYPES,
  type OrderStreamMessageWire,
  type OrderUpdateWire,
  orderUpdateSchema,
  type TpslUpdateWire,
  tpslUpdateSchema,
} from './account-streams.js';
export {
  API_KEY_HEADERS,
  type ApiKeyWire,
  type CreateApiKeyRequestWire,
  createApiKeyRequestSchema,
  type StreamAuthWire,
  streamAuthSchema,
  TIMESTAMP_WINDOW_SECONDS,
} from './auth.js';
export { type CategoryWire, categorySchema } from './category.js';
export { type ChancePointWire, chancePointSchema, PERIOD_CODES, type PeriodCode, periodSchema } from './chance.js';
export {
  CHANCE_CLIENT_TYPES,
  CHANCE_SERVER_TYPES,
  type ChanceClientMessageWire,
  type ChanceServerMessageWire,
  chanceClientMessageSchema,
  chanceEnvelopeSchema,
} from './chance-stream.js';
export { type CoinWire, coinSchema } from './coin.js';
export { type Decimal, decimalSchema, toDecimal } from './decimal.js';
export {
  type EventWire,
  eventSchema,
  type OutcomeWire,
  outcomeSchema,
  type RunnerMarketWire,
  type RunnerWire,
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
export { type ContentPageWire, type ListWire, listSchema } from './list.js';
export {
  ORDER_BOOK_CLIENT_TYPES,
  ORDER_BOOK_SERVER_TYPES,
  type OrderBookClientMessageWire,
  type OrderBookServerMessageWire,
  orderBookClientMessageSchema,
  orderBookEnvelopeSchema,
  type PriceEntryWire,
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
  type LimitOrderRequestWire,
  limitOrderRequestSchema,
  MAX_PRICE,
  type MarketOrderRequestWire,
  MIN_PRICE,
  marketOrderRequestSchema,
  type PlacementWire,
  placementSchema,
  SIDES,
  type Side,
  type TpslRequestWire,
  tpslRequestSchema,
} from './orders.js';
export { type RestErrorWire, restErrorSchema } from './rest-error.js';
export { idSchema, MAX_UNIX_SECONDS, numericSchema, probabilitySchema, unixSecondsSchema } from './scalars.js';
export { type TagWire, tagSchema } from './tag.js';
export { describeValue, explainIssue, joinJsonPath, type ValidationIssue } from './validation-issue.js';
