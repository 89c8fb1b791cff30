import { Engine, type ExchangeCore, type ExchangeOptions } from './engine/index.js';
import { MarketLife, World } from './world/index.js';

/**
 * The exchange without its wire: the engine, and the world that opens and ends its events. `start` does the work.
 * Nobody trades in it; that takes clients. Without bots (or at pace 0) the world stands still once the first events are
 * open.
 */
export function createExchange(options: ExchangeOptions, world: World = new World(options.seed)): ExchangeCore {
  const { seed, bots, pace, clock, events, log } = options;
  const alive = bots > 0 && pace > 0;
  return new Engine(options, (core) => [
    new MarketLife({ core, world, clock, seed, events, pace, alive, ...(log ? { log } : {}) }),
  ]);
}
