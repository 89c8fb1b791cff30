import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, type Component, type Logger, UsageError } from '../../core/index.js';
import type { ExchangeCore } from '../engine/index.js';
import { ChanceFeed } from './chance-feed.js';
import { ChanceStream } from './chance-stream.js';
import { controlRoutes } from './control-routes.js';
import { HttpError } from './errors.js';
import { Faults } from './faults.js';
import { HttpHandler } from './http-handler.js';
import { LoadGenerator } from './load-generator.js';
import { ExchangeMetrics } from './metrics.js';
import { OrderBookStream } from './order-book-stream.js';
import { publicRoutes } from './public-routes.js';
import type { Quirks } from './quirks.js';
import { RateLimit } from './rate-limit.js';
import { Router } from './routes.js';
import { StreamServer } from './stream-server.js';
import { WireEncoder } from './wire-encoder.js';

export interface ExchangeServerOptions {
  readonly core: ExchangeCore;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly quirks: Quirks;
  readonly controlToken: string;
  /** Frames per second of the load generator; 0 is none. */
  readonly loadFramesPerSecond: number;
  readonly seed: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The exchange's wire: REST, streams and control calls of a core that runs, on one port. */
export class ExchangeServer implements Component {
  readonly name = 'exchange server';
  readonly metrics = new ExchangeMetrics();
  #server: Server;
  #streams: StreamServer;
  #orderBook: OrderBookStream;
  #chanceFeed: ChanceFeed;
  #load: LoadGenerator;
  #stopping = new AbortController();

  constructor(private readonly options: ExchangeServerOptions) {
    const { core, quirks, clock, log, controlToken } = options;
    const { metrics } = this;
    const encoder = new WireEncoder(quirks);
    const faults = new Faults(() => clock.nowMicros());
    this.#orderBook = new OrderBookStream({ core, faults, encoder, heartbeatSeconds: quirks.heartbeatSeconds });
    const chance = new ChanceStream({ core, faults, encoder });
    this.#chanceFeed = new ChanceFeed(core, chance, clock);
    this.#load = new LoadGenerator(core, this.#orderBook, options.loadFramesPerSecond, options.seed);
    this.#streams = new StreamServer({ endpoints: [this.#orderBook, chance], faults, metrics, clock, log });
    const rateLimit = quirks.rateLimit === undefined ? undefined : new RateLimit(quirks.rateLimit, () => clock.nowMs());
    const router = new Router([
      ...publicRoutes({ core, quirks, encoder }),
      ...controlRoutes({ core, quirks, faults, load: this.#load }),
    ]);
    const stopping = this.#stopping.signal;
    const handler = new HttpHandler({
      router,
      encoder,
      faults,
      rateLimit,
      controlToken,
      metrics,
      clock,
      log,
      stopping,
    });
    this.#server = createServer({ keepAlive: true, keepAliveInitialDelay: 30_000, requestTimeout: 30_000 });
    this.#server.on('request', (request, response) => void handler.handle(request, response));
    this.#server.on('upgrade', (request, socket, head) => this.#streams.upgrade(request, socket, head));
    this.#server.on('clientError', refuseBroken);
  }

  /** `http://host:port`, once started. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://${reachable(this.options.host)}:${port}`;
  }

  /** @throws UsageError when the address cannot be listened on */
  async start(): Promise<void> {
    const { host, port } = this.options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
      this.#server.listen({ host, port, backlog: 4096 }, () => resolve());
    });
    this.#streams.start();
    this.#orderBook.start();
    this.#chanceFeed.start();
    this.#load.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#load.stop();
    this.#chanceFeed.stop();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.#streams.stop();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Bytes that are no HTTP get an error body like everything else. */
function refuseBroken(error: NodeJS.ErrnoException, socket: import('node:stream').Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable || (socket as Socket).bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(new HttpError(400, 'the request is not HTTP').body());
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new UsageError(`port ${port} on ${host} is taken; choose another with --port, or 0 for any`, {
      cause: error,
    });
  }
  const known = ['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(error.code ?? '');
  return known
    ? new UsageError(`cannot listen on ${host}:${port} (${error.code}); choose another --host or --port`)
    : error;
}

/** An address that a client can use for the address listened on. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
