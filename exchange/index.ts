export {
  EXCHANGE_OPTIONS,
  type ExchangeOption,
  readExchangeOptions,
} from './server/options.js';
export { type ReadyLine, type RunningExchange, startExchange } from './server/start.js';
