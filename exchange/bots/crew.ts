import { setMaxListeners } from 'node:events';
import { type Clock, type Component, describeError, type Logger } from '../../core/index.js';
import { type ExchangeCore, Random } from '../engine/index.js';
import { EngineGateway } from './engine-gateway.js';
import type { OrderGateway, Quotes, Strategy } from './gateway.js';
import { pacedLoop } from './paced-loop.js';
import { InformedTrader } from './strategy-informed.js';
import { MarketMaker } from './strategy-market-maker.js';
import { NoiseTrader } from './strategy-noise.js';
import type { World } from './world.js';

const AFTER_FAILURE_MS = 1000;

export interface CrewOptions {
  readonly core: ExchangeCore;
  readonly quotes: Quotes;
  readonly world: World;
  readonly clock: Clock;
  readonly seed: number;
  readonly bots: number;
  readonly pace: number;
  readonly log?: Logger;
}

/** All bots, each with its account, its strategy and its own rhythm. */
export class Crew implements Component {
  readonly name = 'bots';
  readonly #stopped = new AbortController();
  #loops: Promise<void>[] = [];

  constructor(private readonly options: CrewOptions) {}

  async start(signal: AbortSignal): Promise<void> {
    const { core, clock, pace, bots } = this.options;
    const all = AbortSignal.any([signal, this.#stopped.signal]);
    setMaxListeners(bots + 1, all);
    for (const [index, { userId }] of core.botAccounts().slice(0, bots).entries()) {
      const gateway = new EngineGateway(core, userId);
      // What an earlier run left in the books follows no strategy any more.
      for (const order of await gateway.openOrders()) await gateway.cancel(order.orderId);
      const strategy = this.#strategy(index, gateway);
      this.#loops.push(pacedLoop(clock, pace, all, () => this.#turn(strategy)));
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#loops);
  }

  /** Of four bots one makes markets, one is informed, two are noise; the first of all makes markets. */
  #strategy(index: number, gateway: OrderGateway): Strategy {
    const { quotes, world, seed, bots } = this.options;
    const random = new Random(seed, `bot/${index}/${quotes.markets.length}`);
    if (index % 4 === 0) {
      return new MarketMaker(gateway, quotes, random, { nth: index / 4, of: Math.ceil(bots / 4) });
    }
    if (index % 4 === 2) {
      return new InformedTrader(gateway, quotes, random, ({ eventId, marketId }) => world.fair(eventId, marketId));
    }
    return new NoiseTrader(gateway, quotes, random);
  }

  async #turn(strategy: Strategy): Promise<number> {
    try {
      return await strategy.act();
    } catch (error) {
      this.options.log?.warn({ cause: describeError(error) }, 'a bot could not trade');
      return AFTER_FAILURE_MS * this.options.pace;
    }
  }
}
