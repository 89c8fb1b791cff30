export { type ExchangeAddresses, hostOf, isLoopback, restUrl, streamUrl } from './addresses.js';
export { decodeChanceHistory } from './decode/chance-history.js';
export type { ChancePoint } from './decode/chance-point.js';
export {
  type ChanceMessage,
  decodeChanceMessage,
  type MarketHistory,
  type MarketPoint,
} from './decode/chance-stream.js';
export { decodeEventPage, type Event, type Market } from './decode/event.js';
export { decodeOrderBookMessage, type OrderBookMessage, type PriceEntry } from './decode/order-book.js';
export {
  type Category,
  type Coin,
  decodeCategories,
  decodeCoins,
  decodeTags,
  type Tag,
} from './decode/reference.js';
export { decodeRestError, type RestError } from './decode/rest-error.js';
export type { BadEntry, DecodedList, Invalid, PageInfo } from './decode/result.js';
export {
  AddressError,
  HttpStatusError,
  SchemaError,
  StreamError,
  TransportError,
  type TransportFault,
} from './errors/index.js';
export {
  type Answer,
  type CallOptions,
  ExchangeClient,
  type JsonResponse,
  type WalkOptions,
} from './exchange-client.js';
export type { ExchangeClientOptions } from './requester.js';
export { categoriesOperation } from './rest/categories.js';
export { type ChanceHistoryQuery, chanceHistoryOperation, checkPeriod } from './rest/chance-history.js';
export { coinsOperation } from './rest/coins.js';
export { type EventPageQuery, type EventQuery, searchEventsOperation } from './rest/events.js';
export type { Call, Operation } from './rest/operation.js';
export { PageWalk, type WalkReport } from './rest/page-walk.js';
export type { RawResponse } from './rest/raw-response.js';
export { type PopularTagsQuery, popularTagsOperation } from './rest/tags.js';
export type { HistoryAnswer } from './streams/chance-requests.js';
export {
  ChanceStream,
  type ChanceStreamOptions,
  type HistoryOptions,
  type StreamHistoryQuery,
} from './streams/chance-stream.js';
export type { Connected, ConnectFailed, Disconnected, RawFrame } from './streams/connection.js';
export type { StreamEvent, StreamFrame, StreamHandlers } from './streams/feed.js';
export type { StreamOptions } from './streams/options.js';
export { OrderBookStream } from './streams/order-book-stream.js';
export { describeValue, type Fault } from './wire/index.js';
