import { Engine, type ExchangeCore, type ExchangeOptions } from './engine/index.js';

/** The whole exchange without its wire: the engine, its market life and its bots. `start` does the work. */
export function createExchange(options: ExchangeOptions): ExchangeCore {
  return new Engine(options);
}
