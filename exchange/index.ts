export {
  EXCHANGE_OPTIONS,
  type ExchangeOption,
  type ExchangeOptionName,
  type ExchangeSettings,
  readExchangeOptions,
} from './server/options.js';
export { type ReadyLine, type RunningExchange, runExchange, startExchange } from './server/start.js';
