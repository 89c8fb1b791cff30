import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { Backoff, type Clock, describeError } from '../../core/index.js';
import { connectionErrorCode, HttpStatusError, TransportError } from '../errors/index.js';
import { parseRetryAfter } from '../retry-after.js';
import { isOversized, type OversizedFrame, OversizedFrameWatch } from './oversized-frame.js';
import { ReceiveDelay } from './receive-delay.js';
import { after } from './timer.js';

/** A frame as received. */
export interface RawFrame {
  /** UUID of the connection. */
  readonly connectionId: string;
  /** Time of receipt, Unix microseconds, taken before any processing. */
  readonly receivedAtMicros: number;
  /**
   * Every frame that the exchange sent on this connection before this time was received, Unix microseconds: the time of
   * receipt of this frame, or of an earlier one while frames may have waited to be read (see ReceiveDelay).
   */
  readonly completeUntilMicros: number;
  /** Maximum time that it waited to be read while reading was paused or the process was stopped or busy, milliseconds. */
  readonly waitedMs: number;
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
   * started, its start. Otherwise that of the last frame: what the exchange observed between that frame and the end of the
   * connection was never sent.
   */
  readonly completeUntilMicros: number;
  /** The cause in one line. */
  readonly cause: string;
  /** The frame above the maximum size that ended the connection and is lost; else undefined. */
  readonly oversized: OversizedFrame | undefined;
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
  /** Called last: no other handler is called afterwards. */
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
  /** Upper bound of every reconnect delay, also of one that the exchange requires, milliseconds. */
  readonly reconnectCapMs: number;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
  readonly userAgent: string;
}

interface OpenSocket {
  /** When it was opened, Unix microseconds. */
  readonly atMicros: number;
  /** Removes it as the open socket and stops its pings. */
  detach(): void;
  /** That of its last frame, or when it was opened, Unix microseconds. */
  completeUntilMicros(): number;
}

/** How one attempt to connect ended. */
interface ConnectionEnd {
  /** Why the connection could not be opened. */
  readonly failure?: TransportError | HttpStatusError;
  readonly oversized?: boolean;
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
  /** Delays after oversized frames; they also grow if every connection receives valid data before such a frame. */
  readonly #oversizedBackoff: Backoff;
  readonly #pausers = new Set<unknown>();
  #socket: WebSocket | undefined;
  #delay: ReceiveDelay | undefined;
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
    this.#oversizedBackoff = new Backoff({ baseMs, capMs }, options.random);
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
    this.#delay?.pause();
  }

  resume(owner: unknown): void {
    if (!this.#pausers.delete(owner) || this.#pausers.size > 0) return;
    this.#socket?.resume();
    this.#delay?.resume();
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
      const { failure, oversized } = await this.#connectOnce();
      if (signal.aborted) return;
      const requiredMs = failure instanceof HttpStatusError ? (failure.retryAfterMs ?? 0) : 0;
      const boundMs = Math.min(requiredMs, this.options.reconnectCapMs);
      const atLeastMs = oversized ? this.#oversizedBackoff.nextDelayMs() : boundMs;
      const retryInMs = Math.max(this.#backoff.nextDelayMs(), atLeastMs);
      if (failure) this.handlers.onConnectFailed({ error: failure, retryInMs });
      await this.options.clock.sleep(retryInMs, signal).catch(() => undefined);
    }
  }

  /** Resolves when the connection is closed or could not be opened. */
  #connectOnce(): Promise<ConnectionEnd> {
    const { url, name, clock } = this.options;
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload: this.options.maxFrameBytes,
      handshakeTimeout: this.options.handshakeTimeoutMs,
      // A text frame that is not UTF-8 is passed on like any other: it must not close the connection and get lost.
      skipUTF8Validation: true,
      headers: { 'User-Agent': this.options.userAgent },
    });
    const connection = randomUUID();
    let opened: OpenSocket | undefined;
    let failure: Error | undefined;
    let wire: Socket | undefined;
    let oversized: OversizedFrameWatch | undefined;
    socket.on('upgrade', (response) => {
      wire = response.socket;
    });
    socket.on('unexpected-response', (_request, response) => {
      const retryAfterMs = parseRetryAfter(response.headers['retry-after'], clock.nowMs());
      failure = new HttpStatusError(`${name} ${url}`, response.statusCode ?? 0, undefined, retryAfterMs);
      socket.terminate();
    });
    socket.on('error', (error) => {
      failure ??= error;
      if (isOversized(failure)) oversized?.wait();
    });
    socket.on('open', () => {
      if (wire) oversized = new OversizedFrameWatch(socket, wire, this.options);
      opened = this.#opened(socket, connection, () => wire?.bytesRead ?? 0);
    });
    const onClosing = () => closeSocket(socket);
    this.#closing.signal.addEventListener('abort', onClosing, { once: true });
    return new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        const atMicros = clock.nowMicros();
        this.#closing.signal.removeEventListener('abort', onClosing);
        opened?.detach();
        const lost = oversized?.end();
        if (opened) {
          if (atMicros - opened.atMicros > this.options.reconnectCapMs * 1000) this.#oversizedBackoff.reset();
          const why = this.#causeOf(code, reason, failure);
          // A close handshake of the exchange, or the end of its TCP connection, arrives after it stopped sending.
          const closedByUs = this.#closing.signal.aborted && why.wasClean;
          const completeUntilMicros = closedByUs ? this.#closedAtMicros : opened.completeUntilMicros();
          this.handlers.onDisconnected({
            connectionId: connection,
            atMicros,
            completeUntilMicros,
            oversized: lost,
            ...why,
          });
          this.#reconnectCause = undefined;
          resolve({ oversized: lost !== undefined });
        } else if (failure instanceof HttpStatusError) resolve({ failure });
        else
          resolve({ failure: new TransportError(connectionErrorCode(failure), `${name} ${url}`, { cause: failure }) });
      });
    });
  }

  /** Attaches the handlers of an open socket and starts its pings. */
  #opened(socket: WebSocket, connection: string, bytesRead: () => number): OpenSocket {
    const { clock, url, keepAliveMs } = this.options;
    this.#socket = socket;
    this.#connection = connection;
    this.#reconnectCause = undefined;
    const delay = new ReceiveDelay(clock, (payload) => {
      if (socket.readyState === WebSocket.OPEN) socket.ping(payload);
    });
    this.#delay = delay;
    if (this.#pausers.size > 0) {
      socket.pause();
      delay.pause();
    }
    let receivedAtMicros = clock.nowMicros();
    let completeUntilMicros = receivedAtMicros;
    const connected = { connectionId: connection, url, atMicros: receivedAtMicros };
    socket.on('pong', (payload) => {
      delay.onPong(payload.toString());
      if (!delay.active) completeUntilMicros = receivedAtMicros;
    });
    socket.on('message', (data: Buffer, binary) => {
      receivedAtMicros = clock.nowMicros();
      delay.check();
      if (!delay.active) completeUntilMicros = receivedAtMicros;
      const times = { receivedAtMicros, completeUntilMicros, waitedMs: delay.ms };
      this.handlers.onFrame({ connectionId: connection, ...times, data, binary });
    });
    // Bytes and not messages count: a large frame may take longer than one interval.
    let bytesBefore = -1;
    let delaysBefore = 0;
    let cancel: () => void = () => undefined;
    const onInterval = () => {
      delay.check();
      // While reading is paused, and after the process was stopped, bytes may have arrived that are not read yet.
      const isRead = this.#pausers.size === 0 && delay.count === delaysBefore;
      delaysBefore = delay.count;
      if (isRead && bytesRead() === bytesBefore) {
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
      atMicros: connected.atMicros,
      detach: () => {
        cancel();
        delay.stop();
        this.#delay = undefined;
        this.#socket = undefined;
        this.#connection = undefined;
      },
      completeUntilMicros: () => completeUntilMicros,
    };
  }

  #causeOf(code: number, reason: Buffer, failure: Error | undefined): Pick<DisconnectedEvent, 'cause' | 'wasClean'> {
    if (isOversized(failure)) {
      const { maxFrameBytes } = this.options;
      return { cause: `the exchange sent a frame above the maximum of ${maxFrameBytes} bytes`, wasClean: false };
    }
    // The exchange's close frame follows everything that it sent before. Without one we terminated the socket: 1006.
    if (this.#closing.signal.aborted) return { cause: 'closed by us', wasClean: code !== 1006 };
    if (this.#reconnectCause !== undefined) return { cause: this.#reconnectCause, wasClean: false };
    if (failure) return { cause: describeError(failure), wasClean: false };
    if (code === 1006) return { cause: 'the connection ended without a close frame', wasClean: true };
    const text = reason.length > 0 ? `, ${JSON.stringify(reason.toString('utf8'))}` : '';
    return { cause: `closed by the exchange (code ${code}${text})`, wasClean: true };
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
