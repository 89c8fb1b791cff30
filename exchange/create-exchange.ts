import type { Component } from '../core/index.js';
import { Crew, MarketFeed, MarketLife, World } from './bots/index.js';
import { Engine, type ExchangeCore, type ExchangeOptions } from './engine/index.js';

/**
 * The whole exchange without its wire: the engine, its market life and its bots. `start` does the work. Without bots
 * (or at pace 0) nothing happens by itself once the first events are open.
 */
export function createExchange(options: ExchangeOptions): ExchangeCore {
  return new Engine(options, (core) => companions(core, options));
}

function companions(core: ExchangeCore, options: ExchangeOptions): Component[] {
  const { seed, bots, pace, clock, events, log } = options;
  const world = new World(seed);
  const quotes = new MarketFeed(core);
  const shared = { core, world, clock, seed, pace, ...(log ? { log } : {}) };
  const alive = bots > 0 && pace > 0;
  const life = new MarketLife({ ...shared, events, alive });
  return alive ? [life, quotes, new Crew({ ...shared, quotes, bots })] : [life];
}
