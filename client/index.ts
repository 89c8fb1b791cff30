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
export { describeValue, type Fault } from './wire/index.js';
