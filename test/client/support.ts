import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';

/** A real HTTP server for one test, with TLS if that has options; answers its base URL. */
export async function serve(listener: RequestListener, tls?: TlsOptions): Promise<string> {
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

type Step = (response: ServerResponse, request: SeenRequest) => void;

/** A server that answers requests with the steps in order, then repeats the last one, and records the requests. */
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
      const connection = new Connection(socket, request.url ?? '', request.socket);
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
    readonly wire: Socket,
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
