import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Clock, deferred, type Logger } from '../../../core/index.js';
import { HttpError, StreamRequestError } from '../errors.js';
import { type ArmedFault, type FaultStream, type Faults, isBotsAgent, matches } from '../faults.js';
import type { ExchangeMetrics } from '../metrics.js';
import { StreamSocket } from './stream-socket.js';

/** Larger messages of clients are answered with an error. */
const MAX_MESSAGE_BYTES = 64 * 1024;
/** Larger ones close the connection (close code 1009). */
const MAX_PAYLOAD_BYTES = 1024 * 1024;
/** Maximum unsent bytes per connection, and of all connections. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const MAX_TOTAL_BUFFERED_BYTES = 256 * 1024 * 1024;
const SWEEP_MS = 250;
/** Maximum duration of closing handshakes when the server stops. */
const CLOSE_TIMEOUT_MS = 500;

/** The protocol of one stream path. */
export interface StreamEndpoint {
  readonly path: string;
  readonly stream: FaultStream;
  /** Sent every `heartbeatMs`. */
  readonly heartbeat?: { readonly frame: Buffer; readonly everyMs: number };
  /** Called once the connection is open. */
  onOpen?(socket: StreamSocket): void;
  /** Handles a parsed message. @throws StreamRequestError with the text for the sender */
  onMessage(socket: StreamSocket, message: unknown): Promise<void> | undefined;
  onClose(socket: StreamSocket): void;
  /** Whether the connection is subscribed to the event or one of its markets. */
  isSubscribed(socket: StreamSocket, eventId: string): boolean;
  /** The frame with which the sender gets an error. */
  errorFrame(text: string, message: unknown): Buffer;
}

interface StreamServerOptions {
  readonly endpoints: readonly StreamEndpoint[];
  readonly faults: Faults;
  readonly metrics: ExchangeMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Accepts WebSocket connections on the stream paths of an HTTP server and keeps their buffers bounded. */
export class StreamServer {
  #wss = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_PAYLOAD_BYTES,
    autoPong: false,
  });
  #sockets = new Map<StreamSocket, StreamEndpoint>();
  #byPath: ReadonlyMap<string, StreamEndpoint>;
  #sweeper: NodeJS.Timeout | undefined;
  #whenEmpty: (() => void) | undefined;
  #stopping = new AbortController();

  constructor(private readonly options: StreamServerOptions) {
    this.#byPath = new Map(options.endpoints.map((endpoint) => [endpoint.path, endpoint]));
    options.faults.onArmed((fault) => this.#applyToOpen(fault));
  }

  start(): void {
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  /** Closes every connection; those without a closing handshake in time are terminated. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#stopping.abort();
    for (const socket of this.#sockets.keys()) socket.close(1001, 'the exchange is stopping');
    if (this.#sockets.size > 0) {
      const { promise: closed, resolve } = deferred();
      this.#whenEmpty = resolve;
      const late = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      await closed;
      clearTimeout(late);
    }
    for (const socket of this.#sockets.keys()) socket.drop();
    this.#wss.close();
  }

  /** The listener of the HTTP server's `upgrade` event. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    if (this.#stopping.signal.aborted) {
      socket.destroy();
      return;
    }
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const endpoint = request.method === 'GET' ? this.#byPath.get(path) : undefined;
    if (!endpoint) {
      refuse(socket, new HttpError(404, `there is no stream at ${path.slice(0, 200)}`));
      return;
    }
    const isBot = isBotsAgent(request.headers['user-agent']);
    if (this.options.faults.any && this.#refusedByFault({ stream: endpoint.stream, isBot }, socket)) return;
    this.#wss.handleUpgrade(request, socket, head, (ws) => this.#accept(ws, endpoint, isBot));
  }

  #accept(ws: WebSocket, endpoint: StreamEndpoint, isBot: boolean): void {
    const { faults, metrics } = this.options;
    const { stream } = endpoint;
    const socket = new StreamSocket(ws, { stream, isBot, faults, metrics, maxBufferedBytes: MAX_BUFFERED_BYTES });
    this.#sockets.set(socket, endpoint);
    metrics.sockets.labels(stream).inc();
    const { heartbeat } = endpoint;
    const timer = heartbeat ? setInterval(() => socket.send(heartbeat.frame), heartbeat.everyMs) : undefined;
    // An invalid frame: ws itself closes the connection with the matching code.
    ws.on('error', (error) =>
      this.options.log.debug({ err: error, stream }, 'a client violated the WebSocket protocol'),
    );
    socket.onClose(() => {
      clearInterval(timer);
      this.#sockets.delete(socket);
      metrics.sockets.labels(stream).dec();
      endpoint.onClose(socket);
      if (this.#sockets.size === 0) this.#whenEmpty?.();
    });
    endpoint.onOpen?.(socket);
    socket.onMessage((data, binary) => this.#receive(socket, endpoint, data, binary));
  }

  #receive(socket: StreamSocket, endpoint: StreamEndpoint, data: Buffer, binary: boolean): Promise<void> | undefined {
    let message: unknown;
    const failed = (error: unknown) => {
      if (this.#stopping.signal.aborted) return;
      if (!(error instanceof StreamRequestError)) {
        this.options.metrics.failures.inc();
        this.options.log.error({ err: error, stream: endpoint.stream }, 'a stream message failed');
      }
      const text = error instanceof StreamRequestError ? error.message : 'internal error';
      socket.send(endpoint.errorFrame(text, message));
    };
    try {
      message = parseMessage(data, binary);
      const eventId = eventOf(message);
      const { stream } = endpoint;
      const slow = this.options.faults.take('slow', { stream, eventId, isBot: socket.isBot });
      const answering = slow
        ? this.options.clock.sleep(slow.ms ?? 0, this.#stopping.signal).then(() => endpoint.onMessage(socket, message))
        : endpoint.onMessage(socket, message);
      return answering?.catch(failed);
    } catch (error) {
      failed(error);
      return undefined;
    }
  }

  /** Applies faults that do not wait for a frame to open connections, up to their count. */
  #applyToOpen(fault: ArmedFault): void {
    if (fault.kind !== 'drop-connection' && fault.kind !== 'freeze') return;
    for (const [socket, endpoint] of this.#sockets) {
      if (fault.left <= 0) return;
      const scope = { stream: endpoint.stream, eventId: fault.eventId, isBot: socket.isBot };
      if (!socket.open || !matches(fault, scope)) continue;
      if (fault.eventId !== undefined && !endpoint.isSubscribed(socket, fault.eventId)) continue;
      this.options.faults.use(fault, scope);
      if (fault.kind === 'drop-connection') socket.drop();
      else socket.freeze(fault);
    }
  }

  /** HTTP faults of a stream apply to its handshake. */
  #refusedByFault(scope: { readonly stream: FaultStream; readonly isBot: boolean }, socket: Duplex): boolean {
    const { faults } = this.options;
    if (faults.take('http-reset', scope)) {
      socket.destroy();
    } else if (faults.take('truncated-body', scope)) {
      socket.end('HTTP/1.1 101 Switching Proto');
    } else if (faults.take('http-429', scope)) {
      refuse(socket, new HttpError(429, 'too many requests', { 'Retry-After': '1' }));
    } else if (faults.take('http-500', scope)) {
      refuse(socket, new HttpError(500, 'internal error'));
    } else {
      return false;
    }
    return true;
  }

  /** While the total of unsent bytes is too large, drops the connections with the most. */
  #sweep(): void {
    const behind = [...this.#sockets.keys()].map((socket) => ({ socket, bytes: socket.bufferedBytes }));
    let total = behind.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= MAX_TOTAL_BUFFERED_BYTES) return;
    for (const { socket, bytes } of behind.sort((a, b) => b.bytes - a.bytes)) {
      if (total <= MAX_TOTAL_BUFFERED_BYTES) return;
      socket.dropSlowReader();
      total -= bytes;
    }
  }
}

function parseMessage(data: Buffer, binary: boolean): unknown {
  if (binary) throw new StreamRequestError('binary frames are not accepted; send JSON as text');
  if (data.length > MAX_MESSAGE_BYTES) throw new StreamRequestError(`messages have at most ${MAX_MESSAGE_BYTES} bytes`);
  try {
    return JSON.parse(data.toString('utf8'));
  } catch {
    throw new StreamRequestError('the message is not JSON');
  }
}

function eventOf(message: unknown): string | undefined {
  const event = typeof message === 'object' && message !== null ? (message as { e?: unknown }).e : undefined;
  return typeof event === 'string' ? event : undefined;
}

/** Rejects an upgrade request with an error body. */
function refuse(socket: Duplex, error: HttpError): void {
  const body = JSON.stringify(error.body());
  const headers = { ...error.headers, 'Content-Type': 'application/json', Connection: 'close' };
  const head = Object.entries({ ...headers, 'Content-Length': String(Buffer.byteLength(body)) });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines}\r\n${body}`);
}
