import { Engine, type ExchangeCore, type ExchangeOptions } from './engine/index.js';
import { TradingState } from './trading-state.js';
import { EventScheduler, World } from './world/index.js';

/**
 * The exchange without its network interface: the engine, and the scheduler that opens and ends events. Trading takes
 * clients. Without bots, or at pace 0, events do not end once the first are open. `start` does the work.
 */
export function createExchange(
  options: ExchangeOptions,
  world: World = new World(options.seed),
  trading: TradingState = new TradingState(),
): ExchangeCore {
  const { seed, bots, pace, clock, events, log } = options;
  const reopen = bots > 0 && pace > 0;
  return new Engine(options, (core) => [
    new EventScheduler({ core, world, trading, clock, seed, events, pace, reopen, ...(log ? { log } : {}) }),
  ]);
}
