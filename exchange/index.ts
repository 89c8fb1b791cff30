export {
  EXCHANGE_OPTIONS,
  type ExchangeOption,
  type ExchangeOptionName,
  type ExchangeSettings,
  readExchangeOptions,
} from './server/options.js';
