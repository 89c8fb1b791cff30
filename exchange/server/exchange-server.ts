import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Clock, type Component, type Logger, listenError } from '../../core/index.js';
import type { ExchangeCore } from '../engine/index.js';
import { readOrCreateSecret } from '../store/index.js';
import { TradingState } from '../trading-state.js';
import { Authenticator, Tokens } from './auth/index.js';
import { Faults } from './faults.js';
import { createHttpApp } from './http-app.js';
import { ExchangeMetrics } from './metrics.js';
import type { Quirks } from './quirks.js';
import { RateLimit } from './rate-limit.js';
import {
  authRoutes,
  controlAccountRoutes,
  controlRoutes,
  historyRoutes,
  orderRoutes,
  publicRoutes,
  walletRoutes,
} from './routes/index.js';
import {
  BalanceStream,
  ChanceFeed,
  ChanceStream,
  LoadGenerator,
  OrderBookStream,
  OrderStream,
  StreamServer,
} from './streams/index.js';
import { WireEncoder } from './wire-encoder.js';

interface ExchangeServerOptions {
  readonly core: ExchangeCore;
  /** Default: open. */
  readonly trading?: TradingState;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly quirks: Quirks;
  readonly controlToken: string;
  /** Where the JWT signing key is stored, so that logins survive a restart; undefined keeps it in memory. */
  readonly dataDir?: string | undefined;
  /** How long private streams wait for AUTH; default 30 s. */
  readonly authTimeoutMs?: number | undefined;
  /** Frames per second of the load generator; 0 is none. */
  readonly loadFramesPerSecond: number;
  readonly seed: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The network interface of the exchange: REST, streams and control calls on one port. */
export class ExchangeServer implements Component {
  readonly name = 'exchange server';
  readonly metrics = new ExchangeMetrics();
  #app: FastifyInstance;
  #streams: StreamServer;
  #orderBook: OrderBookStream;
  #chanceFeed: ChanceFeed;
  #load: LoadGenerator;
  #tokens: Tokens;
  #stopping = new AbortController();

  constructor(private readonly options: ExchangeServerOptions) {
    const { core, trading = new TradingState(), quirks, clock, log, controlToken, authTimeoutMs } = options;
    const { heartbeatSeconds } = quirks;
    const { metrics } = this;
    const encoder = new WireEncoder(quirks);
    const faults = new Faults(() => clock.nowMicros());
    this.#tokens = new Tokens(clock);
    const authenticator = new Authenticator(core, this.#tokens, clock);
    this.#orderBook = new OrderBookStream({ core, faults, encoder, heartbeatSeconds });
    const chance = new ChanceStream({ core, faults, encoder });
    const own = { core, authenticator, faults, encoder, clock, authTimeoutMs };
    const privateStreams = [new OrderStream({ ...own, heartbeatSeconds }), new BalanceStream(own)];
    const onKeyChanged = (userId: string) => {
      for (const stream of privateStreams) stream.endSessions(userId);
    };
    this.#chanceFeed = new ChanceFeed(core, chance, clock);
    this.#load = new LoadGenerator(core, this.#orderBook, options.loadFramesPerSecond, options.seed);
    const endpoints = [this.#orderBook, chance, ...privateStreams];
    this.#streams = new StreamServer({ endpoints, faults, metrics, clock, log });
    const rateLimit = quirks.rateLimit === undefined ? undefined : new RateLimit(quirks.rateLimit, () => clock.nowMs());
    const routes = [
      ...publicRoutes({ core, quirks, encoder }),
      ...authRoutes({ core, quirks, tokens: this.#tokens, clock, onKeyChanged }),
      ...orderRoutes({ core, trading, quirks }),
      ...walletRoutes({ core, quirks }),
      ...historyRoutes({ core, quirks }),
      ...controlRoutes({ core, trading, quirks, faults, load: this.#load }),
      ...controlAccountRoutes({ core, clock, onKeyChanged }),
    ];
    const stopping = this.#stopping.signal;
    const shared = { encoder, faults, rateLimit, controlToken, metrics, clock, log, stopping };
    this.#app = createHttpApp({ routes, authenticator, ...shared });
    this.#app.server.on('upgrade', (request, socket, head) => this.#streams.upgrade(request, socket, head));
    this.#app.addHook('preClose', () => this.#streams.stop());
  }

  /** `http://host:port`, once started. */
  get url(): string {
    const { port } = this.#app.server.address() as AddressInfo;
    return `http://${urlHost(this.options.host)}:${port}`;
  }

  /** @throws UsageError when it cannot listen on the address or use the data folder */
  async start(): Promise<void> {
    const { host, port, dataDir } = this.options;
    this.#tokens.useKey(dataDir === undefined ? randomBytes(32) : await readOrCreateSecret(join(dataDir, 'token.key')));
    try {
      await this.#app.listen({ host, port, backlog: 4096 });
    } catch (error) {
      throw listenError(error as NodeJS.ErrnoException, { host, port, hostFlag: '--host', portFlag: '--port' });
    }
    this.#streams.start();
    this.#orderBook.start();
    this.#chanceFeed.start();
    this.#load.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#load.stop();
    this.#chanceFeed.stop();
    await this.#app.close();
  }
}

/** The host of a URL with which clients reach the address listened on. */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
