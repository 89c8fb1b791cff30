export type {
  ActivityWire,
  BalanceWire,
  DepositAddressWire,
  PositionStatsWire,
  ProfileStatsWire,
  TransactionWire,
} from './account-records.js';
export type {
  BalanceUpdateWire,
  TpslUpdateWire,
} from './account-streams.js';
export {
  API_KEY_HEADERS,
  type ApiKeyWire,
  type CreateApiKeyRequestWire,
  type StreamAuthWire,
  streamAuthSchema,
  TIMESTAMP_WINDOW_SECONDS,
} from './auth.js';

export { chancePointSchema, PERIOD_CODES, periodSchema } from './chance.js';
export {
  chanceClientMessageSchema,
  chanceEnvelopeSchema,
} from './chance-stream.js';

export { type Decimal, toDecimal } from './decimal.js';
export {
  SEARCH_DIRECTIONS,
  SEARCH_LANGUAGES,
  SEARCH_SORTS,
  type SearchRequestWire,
  searchRequestSchema,
} from './event-search.js';
export { instantSchema, parseIsoMicros } from './instant.js';
export { JsonNumber, type LosslessJson, parseLossless, stringifyLossless } from './json-number.js';
export {
  orderBookClientMessageSchema,
  orderBookEnvelopeSchema,
  priceEntrySchema,
  pricesMessageSchema,
} from './order-book-stream.js';
export type {
  ActiveOrderWire,
  OpenPositionWire,
  OrderRecordWire,
  TpslOrderWire,
  TradeRecordWire,
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

export { describeValue, explainIssue, joinJsonPath, type ValidationIssue } from './validation-issue.js';
