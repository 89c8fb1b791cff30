import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { type Clock, createLogger, systemClock } from '../../core/index.js';
import { createExchange } from '../../exchange/create-exchange.js';
import type { EventView, ExchangeCore, MarketView } from '../../exchange/engine/index.js';
import { ExchangeServer } from '../../exchange/server/exchange-server.js';
import { parseQuirks } from '../../exchange/server/quirks.js';

export const CONTROL_TOKEN = 'the control token of this test';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by hand, field by field
  readonly body: any;
}

export interface TestServer {
  readonly core: ExchangeCore;
  readonly server: ExchangeServer;
  readonly url: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  /** A request with any method and raw body text. */
  request(method: string, path: string, init?: { body?: string; headers?: Record<string, string> }): Promise<Answer>;
  control(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A WebSocket on a stream path, once it is open. */
  connect(path: string): Promise<TestSocket>;
}

export interface TestServerOptions {
  readonly seed?: number;
  readonly events?: number;
  readonly bots?: number;
  readonly pace?: number;
  readonly quirks?: string;
  readonly load?: number;
  readonly clock?: Clock;
  readonly authWithinMs?: number;
}

/** A real exchange on a free port, quiet unless asked otherwise; it ends with the test. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { seed = 1, events = 3, bots = 0, pace = 0, quirks = '', load = 0, clock = systemClock } = options;
  const log = createLogger({ part: 'exchange', level: 'error' });
  const core = createExchange({ seed, events, bots, pace, accounts: 1, takerFeeBps: 20, clock, log });
  await core.start(new AbortController().signal);
  const server = new ExchangeServer({
    core,
    host: '127.0.0.1',
    port: 0,
    quirks: parseQuirks(quirks),
    controlToken: CONTROL_TOKEN,
    loadFramesPerSecond: load,
    seed,
    clock,
    log,
    authWithinMs: options.authWithinMs,
  });
  await server.start();
  onTestFinished(async () => {
    await server.stop();
    await core.stop();
  });
  const { url } = server;
  const request: TestServer['request'] = async (method, path, init = {}) =>
    readAnswer(await fetch(`${url}${path}`, { method, ...init }));
  return {
    core,
    server,
    url,
    request,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body === undefined ? {} : { body: JSON.stringify(body) }),
    control: (method, path, body) =>
      request(method, `/_control${path}`, {
        headers: { 'X-Control-Token': CONTROL_TOKEN },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    connect: (path) => TestSocket.open(`${url.replace('http', 'ws')}${path}`),
  };
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}

/** A client socket that keeps what it receives, in order. */
export class TestSocket {
  /** Every text frame that came, not yet taken by `next`. */
  readonly waiting: string[] = [];
  /** Close code, once closed. */
  closed: number | undefined;
  #wake: (() => void) | undefined;

  private constructor(readonly ws: WebSocket) {
    ws.on('message', (data) => {
      this.waiting.push(String(data));
      this.#wake?.();
    });
    ws.on('close', (code) => {
      this.closed = code;
      this.#wake?.();
    });
    ws.on('error', () => undefined);
  }

  static async open(url: string): Promise<TestSocket> {
    const ws = new WebSocket(url, { perMessageDeflate: false });
    const socket = new TestSocket(ws);
    onTestFinished(() => ws.terminate());
    await once(ws, 'open');
    return socket;
  }

  send(message: unknown): void {
    this.ws.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The next frame's text. */
  async nextText(): Promise<string> {
    for (;;) {
      const text = this.waiting.shift();
      if (text !== undefined) return text;
      if (this.closed !== undefined) throw new Error(`the socket was closed with ${this.closed}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The next frame, parsed; with a type, the next one of that type (others are left out). */
  // biome-ignore lint/suspicious/noExplicitAny: frames are looked into by hand, field by field
  async next(type?: string): Promise<any> {
    for (;;) {
      const message = JSON.parse(await this.nextText());
      if (type === undefined || message.t === type) return message;
    }
  }

  /** Sends and takes the next frame. */
  async ask(message: unknown) {
    this.send(message);
    return this.next();
  }

  /** Resolves with the close code. */
  async end(): Promise<number> {
    while (this.closed === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.closed;
  }
}

/** Two accounts that make a market trade at a price of the test's choice. */
export class Traders {
  readonly #maker: string;
  readonly #taker: string;

  constructor(private readonly core: ExchangeCore) {
    const open = (email: string) => {
      const opened = core.openAccount({ email, passwordHash: 'none', depositMicros: 1_000_000_000_000 });
      if (!opened.ok) throw new Error(opened.rejection.message);
      return opened.value.userId;
    };
    this.#maker = open('maker@test.example');
    this.#taker = open('taker@test.example');
  }

  /** Puts a bid (BUY YES) into the book; answers its order ID. */
  bid(market: MarketView, cents: number, hundredths = 1000): string {
    return this.#limit(this.#maker, market, market.yesAssetId, cents, hundredths);
  }

  /** Puts an ask in YES terms (BUY NO at the complement) into the book; answers its order ID. */
  ask(market: MarketView, cents: number, hundredths = 1000): string {
    return this.#limit(this.#maker, market, market.noAssetId, 100 - cents, hundredths);
  }

  cancel(orderId: string): void {
    const done = this.core.cancel(this.#maker, orderId);
    if (!done.ok) throw new Error(done.rejection.message);
  }

  /** One fill at the price, in an empty book: the book is empty again afterwards. */
  trade(market: MarketView, cents: number, hundredths = 1000): void {
    this.ask(market, cents, hundredths);
    this.#limit(this.#taker, market, market.yesAssetId, cents, hundredths);
  }

  #limit(userId: string, market: MarketView, assetId: string, price: number, quantity: number): string {
    const { eventId, marketId } = market;
    const placed = this.core.placeLimit({ userId, eventId, marketId, assetId, side: 'BUY', price, quantity });
    if (!placed.ok) throw new Error(placed.rejection.message);
    return placed.value.orderId;
  }
}

/** Opens an event with markets of these opening chances. */
export function openEvent(core: ExchangeCore, title: string, chances: readonly number[], more: object = {}): EventView {
  const category = core.categories()[0]?.slug ?? '';
  const markets = chances.map((chance, n) => ({ name: `${title} ${n}`, chance }));
  const opened = core.openEvent({ title, category, tags: [], markets, ...more });
  if (!opened.ok) throw new Error(opened.rejection.message);
  return opened.value;
}

/** The market at a place of the event's list. */
export function marketOf(event: EventView, n = 0): MarketView {
  const market = event.markets[n];
  if (!market) throw new Error(`the event has no market ${n}`);
  return market;
}

/** Resolves when the condition holds; looks again after every turn of the event loop, for at most `seconds`. */
export async function until(condition: () => boolean | Promise<boolean>, seconds = 100): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`what was waited for did not happen within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The system's clock, set forward by whole seconds. */
export class ShiftedClock implements Clock {
  seconds = 0;

  nowMicros(): number {
    return systemClock.nowMicros() + this.seconds * 1e6;
  }

  nowMs(): number {
    return this.nowMicros() / 1000;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }
}

/** Stands still but for the seconds that it is set forward by; who sleeps does so in real time. */
export class StillClock extends ShiftedClock {
  readonly #micros = systemClock.nowMicros();

  override nowMicros(): number {
    return this.#micros + this.seconds * 1e6;
  }
}
