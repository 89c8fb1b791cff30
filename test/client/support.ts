import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../core/index.js';

/** A real HTTP server for one test; answers its base URL. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

type Step = (response: ServerResponse, request: SeenRequest) => void;

/** A server that answers requests with the steps in order (the last one again and again), and what it was asked. */
export async function script(...steps: Step[]): Promise<{ base: string; seen: SeenRequest[] }> {
  const seen: SeenRequest[] = [];
  const base = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const body = Buffer.concat(chunks).toString();
    const step = steps[Math.min(seen.length, steps.length - 1)];
    seen.push({ method, url, body, headers });
    step?.(response, { method, url, body, headers });
  });
  return { base, seen };
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Step =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

/** A real WebSocket server for one test: every connection, with what it received. */
export class StreamServer {
  readonly connections: Connection[] = [];
  readonly base: string;
  readonly #waiting: ((connection: Connection) => void)[] = [];
  #taken = 0;

  private constructor(readonly server: WebSocketServer) {
    this.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (socket, request) => {
      const connection = new Connection(socket, request.url ?? '');
      this.connections.push(connection);
      this.#hand();
    });
  }

  static async open(options: ServerOptions = {}): Promise<StreamServer> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options });
    await once(server, 'listening');
    onTestFinished(async () => {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    });
    return new StreamServer(server);
  }

  /** The next connection that was not handed out yet. */
  next(): Promise<Connection> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#hand();
    });
  }

  #hand(): void {
    for (let c = this.connections[this.#taken]; c && this.#waiting.length > 0; c = this.connections[this.#taken]) {
      this.#taken += 1;
      this.#waiting.shift()?.(c);
    }
  }
}

export class Connection {
  readonly received: unknown[] = [];
  readonly #waiting: (() => void)[] = [];
  #read = 0;
  closed: Promise<number>;

  constructor(
    readonly socket: WebSocket,
    readonly url: string,
  ) {
    socket.on('message', (data) => {
      this.received.push(JSON.parse(String(data)));
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.closed = new Promise((resolve) => socket.on('close', resolve));
  }

  /** The next message from the client. */
  async message(): Promise<unknown> {
    while (this.#read >= this.received.length) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.received[this.#read++];
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }
}

/** A clock that stands still until it is advanced. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  #sleepers: { at: number; wake: () => void }[] = [];

  nowMs(): number {
    return this.#now;
  }

  nowMicros(): number {
    return this.#now * 1000;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener(
        'abort',
        () => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  /** Lets `ms` pass, waking who sleeps at the time it set, in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await flushEvents();
      const [next] = this.#sleepers.filter((sleeper) => sleeper.at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
    this.#now = end;
    await flushEvents();
  }
}

/** Lets promises that can go on do so. */
async function flushEvents(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** A handler that records its calls, and promises the next one. */
export function recorder<T>(): { (value: T): void; calls: T[]; next(): Promise<T> } {
  const calls: T[] = [];
  let read = 0;
  let wake: (() => void)[] = [];
  const handler = (value: T) => {
    calls.push(value);
    for (const go of wake.splice(0)) go();
  };
  return Object.assign(handler, {
    calls,
    async next(): Promise<T> {
      while (read >= calls.length) await new Promise<void>((resolve) => (wake = [...wake, resolve]));
      return calls[read++] as T;
    },
  });
}
