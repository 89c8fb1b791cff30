export { type ExchangeAddresses, Secret, UsageError } from '../core/index.js';
export {
  AccountClient,
  type AccountListResult,
  type AccountRecordResult,
  type HistoryWalkOptions,
  type LosslessResponse,
} from './account-client.js';
export { checkAddresses, isLoopback, restUrl, streamUrl } from './addresses.js';
export { ApiKey } from './auth/api-key.js';
export type { AuthMethod, Credentials, TokenSource } from './auth/authorizer.js';
export { type LoginField, type LoginFields, LoginSession, login } from './auth/login.js';
export {
  type Activity,
  decodeActivity,
  decodePositionStats,
  decodeProfileStats,
  type PositionStats,
  type ProfileStats,
} from './decode/account/activity.js';
export type { ApiKeyInfo, Login } from './decode/account/api-key.js';
export { type BalanceStreamMessage, decodeBalanceStreamMessage } from './decode/account/balance-stream.js';
export { decodeOrderStreamMessage, type OrderStreamMessage } from './decode/account/order-stream.js';
export {
  type ActiveOrder,
  decodeActiveOrders,
  decodeOrders,
  decodeTpslOrders,
  decodeTrades,
  type OrderRecord,
  type TpslOrder,
  type TradeRecord,
} from './decode/account/orders.js';
export { decodeOpenPositions, type OpenPosition } from './decode/account/positions.js';
export {
  type Balance,
  type DepositAddress,
  decodeBalances,
  decodeDepositAddress,
  decodeTransactions,
  type Transaction,
} from './decode/account/wallet.js';
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
export type { DecodedList, InvalidBody, InvalidEntry, PageInfo } from './decode/result.js';
export {
  AddressError,
  ForbiddenError,
  HttpStatusError,
  OutcomeUnknownError,
  SchemaError,
  StreamError,
  TransportError,
  type TransportErrorCode,
  UnauthorizedError,
} from './errors/index.js';
export {
  type CallOptions,
  ExchangeClient,
  type JsonResponse,
  type ListResult,
  type WalkOptions,
} from './exchange-client.js';
export type { RequestPriority } from './rate-limiter.js';
export type { ExchangeClientOptions } from './requester.js';
export { balancesOperation, fullBalancesOperation } from './rest/account/balances.js';
export {
  activityOperation,
  type OrderQuery,
  ordersOperation,
  type TradeQuery,
  tradesOperation,
} from './rest/account/history.js';
export type { AccountOperation } from './rest/account/operation.js';
export type { PageQuery } from './rest/account/pages.js';
export { activeOrdersOperation, openPositionsOperation } from './rest/account/positions.js';
export { positionStatsOperation, profileStatsOperation, type UserQuery } from './rest/account/stats.js';
export { type TpslQuery, tpslOrdersOperation } from './rest/account/tpsl.js';
export { depositAddressOperation, transactionsOperation } from './rest/account/wallet.js';
export { categoriesOperation } from './rest/categories.js';
export { type ChanceHistoryQuery, chanceHistoryOperation, checkPeriod } from './rest/chance-history.js';
export { coinsOperation } from './rest/coins.js';
export { type EventPageQuery, type EventQuery, searchEventsOperation } from './rest/events.js';
export { HistoryWalk, type HistoryWalkReport } from './rest/history-walk.js';
export type { Operation, OperationRequest } from './rest/operation.js';
export { PageWalk, type WalkReport } from './rest/page-walk.js';
export type { RawResponse } from './rest/raw-response.js';
export { type PopularTagsQuery, popularTagsOperation } from './rest/tags.js';
export { ServerTime } from './server-time.js';
export { BalanceStream } from './streams/balance-stream.js';
export type { StreamHistoryResult } from './streams/chance-requests.js';
export {
  ChanceStream,
  type ChanceStreamOptions,
  type StreamHistoryOptions,
  type StreamHistoryQuery,
} from './streams/chance-stream.js';
export type { ConnectedEvent, ConnectFailedEvent, DisconnectedEvent, RawFrame } from './streams/connection.js';
export type { StreamEvent, StreamFrame, StreamHandlers } from './streams/message-dispatcher.js';
export type { StreamOptions } from './streams/options.js';
export { OrderBookStream } from './streams/order-book-stream.js';
export { OrderUpdateStream } from './streams/order-update-stream.js';
export type { AuthFailedEvent, PrivateStream, PrivateStreamOptions } from './streams/private-stream.js';
export { RawStream, type RawStreamOptions } from './streams/raw-stream.js';
export {
  type Decimal,
  describeValue,
  JsonNumber,
  joinJsonPath,
  type LosslessJson,
  parseIsoMicros,
  parseLossless,
  type ValidationIssue,
} from './wire/index.js';
