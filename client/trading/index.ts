export type { Side } from '../wire/index.js';
export { ApiKeyAdmin, type CreateApiKeyRequest, type CreatedApiKey } from './api-key-admin.js';
export type { DecimalInput, LimitOrder, MarketOrder, OrderTarget, TpslOrderRequest } from './order-requests.js';
export { type PlacedOrder, type PlacedTpsl, TradingClient, type TradingOptions } from './trading-client.js';
