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
export { describeValue, explainIssue, type Fault } from './reason.js';
export { type RestErrorWire, restErrorSchema } from './rest-error.js';
export { idSchema, MAX_UNIX_SECONDS, numericSchema, probabilitySchema, unixSecondsSchema } from './scalars.js';
export { type TagWire, tagSchema } from './tag.js';
