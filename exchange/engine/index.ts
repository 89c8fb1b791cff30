export type {
  ExchangeCore,
  ExchangeOptions,
  LimitRequest,
  OpenEventRequest,
  Result,
  SeededAccount,
} from './core.js';
export { Engine } from './engine.js';
export { hashPassword, passwordMatches } from './passwords.js';
export type { Truth, TruthPrice, TruthTrade } from './truth-types.js';
export type {
  AccountView,
  ApiKeyRecord,
  BalanceChange,
  Category,
  ChancePoint,
  Coin,
  Credentials,
  EventView,
  MarketView,
  OrderUpdate,
  OrderView,
  Outcome,
  PositionView,
  PriceChange,
  ProfileView,
  Side,
  Tag,
  TpslStatus,
  TpslView,
  TradeView,
  TransactionView,
} from './types.js';
export { averagePrice, centsOf, hundredthsOf, MICROS, microsOf } from './units.js';
