export {
  EXCHANGE_OPTIONS,
  type ExchangeOption,
  type ExchangeOptionName,
  type ExchangeSettings,
  readExchangeOptions,
} from './server/options.js';
export { type BotsBrief, type ReadyLine, type RunningExchange, startExchange } from './server/start.js';
