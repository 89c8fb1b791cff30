import { setMaxListeners } from 'node:events';
import { AccountClient, ApiKey, ExchangeClient, type Secret } from '../client/index.js';
import { TradingClient } from '../client/trading/index.js';
import {
  BOTS_USER_AGENT,
  type Clock,
  type Component,
  describeError,
  type Logger,
  OutageLog,
  Random,
} from '../core/index.js';
import type { Strategy } from './market.js';
import { MarketWatch } from './market-watch.js';
import { OrderGateway } from './order-gateway.js';
import { OwnAccount } from './own-account.js';
import { pacedLoop } from './paced-loop.js';
import { InformedTrader } from './strategy-informed.js';
import { MarketMaker } from './strategy-market-maker.js';
import { NoiseTrader } from './strategy-noise.js';
import { TpslUser } from './strategy-tpsl.js';

/** Delay before the next turn after a failure, milliseconds. */
const AFTER_FAILURE_MS = 1000;
/** Delay before the next turn while the account's streams are not ready or no price is known, milliseconds. */
const NOT_READY_MS = 50;
/** Failures in a row from which on they are logged. */
const FAILURES_TO_LOG = 3;
/** Interval of comparing an account with the exchange's lists, at pace 1 and at least, milliseconds. */
const RECONCILE_MS = 60_000;
const MIN_RECONCILE_MS = 10_000;
/** No limit of its own: the exchange is on this machine. */
const REQUESTS_PER_SECOND = 100_000;
const MAX_SOCKETS = 64;
const TIMEOUT_MS = 5000;

interface BotKey {
  readonly apiKey: string;
  readonly apiSecret: Secret;
}

interface BotFleetOptions {
  /** Base address of the exchange. */
  readonly url: string;
  /** One bot each. */
  readonly keys: readonly BotKey[];
  readonly seed: number;
  /** How fast they trade; 1 is normal. */
  readonly pace: number;
  /** For informed traders: the hidden chance of a market, 0..1. */
  readonly fair: (marketId: string) => number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Bot {
  readonly own: OwnAccount;
  readonly gateway: OrderGateway;
  readonly strategy: Strategy;
  readonly outage: OutageLog;
  /** Turns that failed in a row. */
  failures: number;
}

/** All bots: clients of the exchange, each with an account, a strategy and timing of its own. */
export class BotFleet implements Component {
  readonly name = 'bots';
  readonly #stopped = new AbortController();
  readonly #exchange: ExchangeClient;
  readonly #markets: MarketWatch;
  readonly #bots: readonly Bot[];
  #loops: Promise<void>[] = [];

  constructor(private readonly options: BotFleetOptions) {
    const { url, keys, clock, pace, log } = options;
    const addresses = { base: url };
    setMaxListeners(0, this.#stopped.signal);
    this.#exchange = new ExchangeClient({
      addresses,
      requestsPerSecond: REQUESTS_PER_SECOND,
      concurrency: Math.min(MAX_SOCKETS, keys.length + 1),
      timeoutMs: TIMEOUT_MS,
      userAgent: BOTS_USER_AGENT,
      clock,
    });
    const onClosed = (marketId: string) => {
      for (const { own } of this.#bots) own.orders.removeMarket(marketId);
    };
    this.#markets = new MarketWatch({ exchange: this.#exchange, addresses, clock, pace, onClosed, log });
    this.#bots = keys.map((key, index) => this.#bot(key, index));
  }

  /** Connects and begins to trade; resolves at once. */
  async start(signal: AbortSignal): Promise<void> {
    const { clock, pace } = this.options;
    signal.addEventListener('abort', () => this.#stopped.abort(), { once: true });
    const { signal: stopped } = this.#stopped;
    await this.#markets.start(stopped);
    for (const bot of this.#bots) {
      bot.own.start(stopped);
      this.#loops.push(pacedLoop(clock, pace, stopped, () => this.#turn(bot)));
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([...this.#loops, this.#markets.stop(), ...this.#bots.map(({ own }) => own.close())]);
    await this.#exchange.close();
  }

  #bot({ apiKey, apiSecret }: BotKey, index: number): Bot {
    const { url, clock, pace, log } = this.options;
    const [exchange, quotes, key] = [this.#exchange, this.#markets, new ApiKey(apiKey, apiSecret)];
    const usdcId = () => quotes.usdcId;
    const own = new OwnAccount({
      addresses: { base: url },
      apiKey: key,
      serverTime: exchange.serverTime,
      quotes,
      usdcId,
    });
    const gateway = new OrderGateway({
      trading: new TradingClient(exchange, { apiKey: key }),
      account: new AccountClient(exchange, { apiKey: key }),
      own,
      quotes,
      usdcId,
      clock,
      reconcileEveryMs: Math.max(MIN_RECONCILE_MS, RECONCILE_MS / pace),
      signal: this.#stopped.signal,
    });
    const outage = new OutageLog(log.child({ bot: index + 1 }), 'the bot trades again');
    return { own, gateway, strategy: this.#strategy(index, gateway), outage, failures: 0 };
  }

  /** Of eight bots two are market makers (the first is one), two informed, one uses TP/SL orders, three are noise. */
  #strategy(index: number, gateway: OrderGateway): Strategy {
    const { seed, keys, fair } = this.options;
    const random = new Random(seed, `bot/${index}`);
    const quotes = this.#markets;
    if (index % 4 === 0) {
      return new MarketMaker(gateway, quotes, random, { nth: index / 4, of: Math.ceil(keys.length / 4) });
    }
    if (index % 4 === 2) return new InformedTrader(gateway, quotes, random, fair);
    return index % 8 === 3 ? new TpslUser(gateway, quotes, random) : new NoiseTrader(gateway, quotes, random);
  }

  async #turn(bot: Bot): Promise<number> {
    const { gateway, strategy, outage } = bot;
    const { pace } = this.options;
    if (!gateway.ready || this.#markets.markets.length === 0) return NOT_READY_MS * pace;
    try {
      await gateway.reconcile();
      const wait = await strategy.act();
      bot.failures = 0;
      outage.succeeded();
      return wait;
    } catch (error) {
      bot.failures += 1;
      // A single failure is normal, and the next turn retries.
      if (!this.#stopped.signal.aborted && bot.failures >= FAILURES_TO_LOG) {
        outage.failed(`the bot could not trade: ${describeError(error)}`);
      }
      return AFTER_FAILURE_MS * pace;
    }
  }
}
