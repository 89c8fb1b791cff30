import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { Backoff, type Clock, describeError } from '../../core/index.js';
import { HttpStatusError, TransportError } from '../errors/index.js';
import { parseRetryAfter } from '../retry-after.js';
import { after } from './timer.js';

/** A frame as received. */
export interface RawFrame {
  /** UUID of the connection. */
  readonly connectionId: string;
  /** Time of receipt, Unix microseconds, taken before any processing. */
  readonly receivedAtMicros: number;
  /** The payload, byte for byte. */
  readonly data: Buffer;
  /** Whether it is a binary frame. */
  readonly binary: boolean;
}

export interface ConnectedEvent {
  /** UUID of the connection. */
  readonly connectionId: string;
  readonly url: string;
  readonly atMicros: number;
}

export interface DisconnectedEvent {
  readonly connectionId: string;
  readonly atMicros: number;
  /**
   * Every frame that the exchange sent before this time was received, Unix microseconds. After a close handshake that we
   * started, its start; after a clean close by the exchange, the time of the close; after a broken connection, the time of
   * the last frame.
   */
  readonly completeUntilMicros: number;
  /** The cause in one line. */
  readonly cause: string;
  /** The exchange sent a frame above the maximum size, which is lost. */
  readonly oversized: boolean;
  /** The connection was closed cleanly, so every frame sent before was received. False when it broke or was reset. */
  readonly wasClean: boolean;
}

export interface ConnectFailedEvent {
  readonly error: TransportError | HttpStatusError;
  readonly retryInMs: number;
}

export interface ConnectionHandlers {
  onFrame(frame: RawFrame): void;
  onConnected(event: ConnectedEvent): void;
  onDisconnected(event: DisconnectedEvent): void;
  onConnectFailed(event: ConnectFailedEvent): void;
  /** None of the above is called any more. */
  onClosed(): void;
}

export interface ConnectionOptions {
  readonly url: string;
  /** Name for error messages, like `order book stream`. */
  readonly name: string;
  /** Maximum time for the handshake, milliseconds. */
  readonly handshakeTimeoutMs: number;
  /** Maximum frame size, bytes. */
  readonly maxFrameBytes: number;
  /** Interval between pings; a connection that receives no bytes in one interval is closed, milliseconds. */
  readonly keepAliveMs: number;
  /** Upper bound of the first reconnect delay, milliseconds. */
  readonly reconnectBaseMs: number;
  /** Upper bound of every reconnect delay, milliseconds. */
  readonly reconnectCapMs: number;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
}

interface OpenSocket {
  /** Removes it as the open socket and stops its pings. */
  detach(): void;
  /** When its last frame was received, or it was opened, Unix microseconds. */
  lastReceivedAtMicros(): number;
}

/** Maximum time of the close handshake before the socket is terminated, milliseconds. */
const CLOSE_TIMEOUT_MS = 500;

/**
 * A WebSocket that reconnects with exponential backoff and full jitter. The delays grow until `resetBackoff` is called
 * after valid data, so that a server that accepts and drops connections is not flooded.
 */
export class StreamConnection {
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  readonly #pausers = new Set<unknown>();
  #socket: WebSocket | undefined;
  #connection: string | undefined;
  #reconnectCause: string | undefined;
  #closedAtMicros = 0;
  #running: Promise<void> | undefined;
  #removeAbortListener: () => void = () => undefined;

  constructor(
    private readonly options: ConnectionOptions,
    private readonly handlers: ConnectionHandlers,
  ) {
    const { reconnectBaseMs: baseMs, reconnectCapMs: capMs } = options;
    this.#backoff = new Backoff({ baseMs, capMs }, options.random);
  }

  /** UUID of the open connection. */
  get connectionId(): string | undefined {
    return this.#connection;
  }

  /** Connects, and reconnects until `close` or the signal. */
  start(signal?: AbortSignal): void {
    if (this.#running || this.#closing.signal.aborted) return;
    const onAbort = () => void this.close();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#removeAbortListener = () => signal?.removeEventListener('abort', onAbort);
    this.#running = this.#run();
    if (signal?.aborted) onAbort();
  }

  /** Returns false, and sends nothing, when there is no open connection. */
  send(text: string): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(text);
    return true;
  }

  /** Valid data was received: the reconnect delay starts again from its minimum. */
  resetBackoff(): void {
    this.#backoff.reset();
  }

  /** Stops reading from the socket until every owner of a pause has resumed. A few more frames may be received. */
  pause(owner: unknown): void {
    this.#pausers.add(owner);
    this.#socket?.pause();
  }

  resume(owner: unknown): void {
    this.#pausers.delete(owner);
    if (this.#pausers.size === 0) this.#socket?.resume();
  }

  /** Whether reading is paused. */
  get paused(): boolean {
    return this.#pausers.size > 0;
  }

  /** Terminates the connection and connects again. */
  reconnect(cause: string): void {
    if (!this.#socket) return;
    this.#reconnectCause = cause;
    this.#socket.terminate();
  }

  /**
   * Starts the close handshake and resolves when the socket is closed. Frames that the exchange sent before its close
   * frame are still passed on until then. May be called twice.
   */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) this.#closedAtMicros = this.options.clock.nowMicros();
    this.#closing.abort();
    this.#removeAbortListener();
    await this.#running;
    this.handlers.onClosed();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const failure = await this.#connectOnce();
      if (signal.aborted) return;
      const requiredMs = failure instanceof HttpStatusError ? (failure.retryAfterMs ?? 0) : 0;
      const retryInMs = Math.max(this.#backoff.nextDelayMs(), requiredMs);
      if (failure) this.handlers.onConnectFailed({ error: failure, retryInMs });
      await this.options.clock.sleep(retryInMs, signal).catch(() => undefined);
    }
  }

  /** Resolves when the connection is closed: with the error when it could not be opened, else with undefined. */
  #connectOnce(): Promise<TransportError | HttpStatusError | undefined> {
    const { url, name, clock } = this.options;
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload: this.options.maxFrameBytes,
      handshakeTimeout: this.options.handshakeTimeoutMs,
      // A text frame that is not UTF-8 is passed on like any other: it must not close the connection and get lost.
      skipUTF8Validation: true,
    });
    const connection = randomUUID();
    let opened: OpenSocket | undefined;
    let failure: Error | undefined;
    let bytesRead = () => 0;
    socket.on('upgrade', ({ socket: wire }) => {
      bytesRead = () => wire.bytesRead;
    });
    socket.on('unexpected-response', (_request, response) => {
      const retryAfterMs = parseRetryAfter(response.headers['retry-after'], clock.nowMs());
      failure = new HttpStatusError(`${name} ${url}`, response.statusCode ?? 0, undefined, retryAfterMs);
      socket.terminate();
    });
    socket.on('error', (error) => {
      failure ??= error;
    });
    socket.on('open', () => {
      opened = this.#opened(socket, connection, bytesRead);
    });
    const onClosing = () => closeSocket(socket);
    this.#closing.signal.addEventListener('abort', onClosing, { once: true });
    return new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        const atMicros = clock.nowMicros();
        this.#closing.signal.removeEventListener('abort', onClosing);
        opened?.detach();
        if (opened) {
          const why = this.#causeOf(code, reason, failure);
          const cleanUntilMicros = this.#closing.signal.aborted ? this.#closedAtMicros : atMicros;
          const completeUntilMicros = why.wasClean ? cleanUntilMicros : opened.lastReceivedAtMicros();
          this.handlers.onDisconnected({
            connectionId: connection,
            atMicros,
            completeUntilMicros,
            ...why,
          });
          this.#reconnectCause = undefined;
          resolve(undefined);
        } else if (failure instanceof HttpStatusError) resolve(failure);
        else resolve(new TransportError('connection', `${name} ${url}`, { cause: failure }));
      });
    });
  }

  /** Attaches the handlers of an open socket and starts its pings. */
  #opened(socket: WebSocket, connection: string, bytesRead: () => number): OpenSocket {
    const { clock, url, keepAliveMs } = this.options;
    this.#socket = socket;
    this.#connection = connection;
    this.#reconnectCause = undefined;
    if (this.#pausers.size > 0) socket.pause();
    let lastReceivedAtMicros = clock.nowMicros();
    const connected = { connectionId: connection, url, atMicros: lastReceivedAtMicros };
    socket.on('message', (data: Buffer, binary) => {
      const receivedAtMicros = clock.nowMicros();
      lastReceivedAtMicros = receivedAtMicros;
      this.handlers.onFrame({ connectionId: connection, receivedAtMicros, data, binary });
    });
    // Bytes and not messages count: a large frame may take longer than one interval.
    let bytesBefore = -1;
    let cancel: () => void = () => undefined;
    const onInterval = () => {
      // While reading is paused, no bytes are received, whatever the exchange sends.
      if (bytesRead() === bytesBefore && this.#pausers.size === 0) {
        this.reconnect(`no data received for ${keepAliveMs} ms`);
        return;
      }
      bytesBefore = this.#pausers.size > 0 ? -1 : bytesRead();
      if (socket.readyState === WebSocket.OPEN) socket.ping();
      cancel = after(clock, keepAliveMs, onInterval);
    };
    cancel = after(clock, keepAliveMs, onInterval);
    this.handlers.onConnected(connected);
    return {
      detach: () => {
        cancel();
        this.#socket = undefined;
        this.#connection = undefined;
      },
      lastReceivedAtMicros: () => lastReceivedAtMicros,
    };
  }

  #causeOf(
    code: number,
    reason: Buffer,
    failure: Error | undefined,
  ): Pick<DisconnectedEvent, 'cause' | 'oversized' | 'wasClean'> {
    const limit = this.options.maxFrameBytes;
    if ((failure as NodeJS.ErrnoException | undefined)?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') {
      return {
        cause: `the exchange sent a frame above the maximum of ${limit} bytes`,
        oversized: true,
        wasClean: false,
      };
    }
    // The exchange's close frame follows everything that it sent before. Without one we terminated the socket: 1006.
    if (this.#closing.signal.aborted) return { cause: 'closed by us', oversized: false, wasClean: code !== 1006 };
    if (this.#reconnectCause !== undefined) return { cause: this.#reconnectCause, oversized: false, wasClean: false };
    if (failure) return { cause: describeError(failure), oversized: false, wasClean: false };
    if (code === 1006) return { cause: 'the connection ended without a close frame', oversized: false, wasClean: true };
    const text = reason.length > 0 ? `, ${JSON.stringify(reason.toString('utf8'))}` : '';
    return { cause: `closed by the exchange (code ${code}${text})`, oversized: false, wasClean: true };
  }
}

function closeSocket(socket: WebSocket): void {
  if (socket.readyState === WebSocket.CONNECTING || socket.isPaused) {
    socket.terminate();
    return;
  }
  socket.close(1000);
  // A close frame that was received while this process was busy is read first.
  const timer = setTimeout(() => setImmediate(() => socket.terminate()), CLOSE_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
}
