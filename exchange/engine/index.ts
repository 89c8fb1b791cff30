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
export type { TruthPrice, TruthTrade } from './truth-types.js';
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
  TpslView,
  TradeView,
  TransactionView,
} from './types.js';
export { TPSL_STATUSES } from './types.js';
export { averagePrice, centsOf, hundredthsOf, MICROS, microsOf } from './units.js';
