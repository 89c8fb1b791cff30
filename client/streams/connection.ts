import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { Backoff, type Clock, describeError } from '../../core/index.js';
import { HttpStatusError, TransportError } from '../errors/index.js';
import { parseRetryAfter } from '../retry-after.js';
import { after } from './timer.js';

/** A frame as it arrived. */
export interface RawFrame {
  /** UUID of the connection. */
  readonly connectionId: string;
  /** Unix microseconds, taken before anything else. */
  readonly receivedAtMicros: number;
  readonly data: Buffer;
  /** Whether it was sent as a binary frame. */
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
   * All that the exchange had sent until then was handed over, Unix microseconds: until our goodbye was said, which it
   * answered; until now, when it ended in order by itself; until the last frame, when it was cut or reset.
   */
  readonly completeUntilMicros: number;
  /** Why, in one line. */
  readonly cause: string;
  /** The exchange sent a frame larger than is accepted; it is lost. */
  readonly oversized: boolean;
  /** The end came in order, so all that the exchange had sent before was handed over. False when it was cut or reset. */
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
  /** No more of the above will come. */
  onClosed(): void;
}

export interface ConnectionOptions {
  readonly url: string;
  /** Name for error messages, like `order book stream`. */
  readonly name: string;
  /** Longest wait for the handshake, milliseconds. */
  readonly handshakeTimeoutMs: number;
  /** Largest accepted frame, bytes. */
  readonly maxFrameBytes: number;
  /** A connection that shows no sign of life between two pings of this distance is given up, milliseconds. */
  readonly keepAliveMs: number;
  /** Bound of the first wait before a reconnect, and of any wait, milliseconds. */
  readonly reconnectBaseMs: number;
  readonly reconnectCapMs: number;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
}

interface OpenSocket {
  /** Undoes the wiring. */
  detach(): void;
  /** When its last frame came, or it was opened. */
  lastReceivedAtMicros(): number;
}

/** How long a goodbye may take before the socket is cut, milliseconds. */
const GOODBYE_MS = 500;

/**
 * A WebSocket that is connected again whenever it is lost, with full jitter. The waits grow until `resetBackoff` says that
 * the connection was good for something: a server that accepts and drops at once is not hammered.
 */
export class StreamConnection {
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  readonly #pausers = new Set<unknown>();
  #socket: WebSocket | undefined;
  #connection: string | undefined;
  #cut: string | undefined;
  #goodbyeAtMicros = 0;
  #running: Promise<void> | undefined;
  #unlisten: () => void = () => undefined;

  constructor(
    private readonly options: ConnectionOptions,
    private readonly handlers: ConnectionHandlers,
  ) {
    const { reconnectBaseMs: baseMs, reconnectCapMs: capMs } = options;
    this.#backoff = new Backoff({ baseMs, capMs }, options.random);
  }

  /** UUID of the connection that is open now. */
  get connectionId(): string | undefined {
    return this.#connection;
  }

  /** Connects, and keeps connected until `close` or the signal. */
  start(signal?: AbortSignal): void {
    if (this.#running || this.#closing.signal.aborted) return;
    const onAbort = () => void this.close();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#unlisten = () => signal?.removeEventListener('abort', onAbort);
    this.#running = this.#run();
    if (signal?.aborted) onAbort();
  }

  /** False when there is no open connection: nothing was sent. */
  send(text: string): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(text);
    return true;
  }

  /** A valid data message came: the next reconnect may be quick again. */
  resetBackoff(): void {
    this.#backoff.reset();
  }

  /** Stops reading from the socket until everyone who paused it resumed it. A few frames may still come. */
  pause(who: unknown): void {
    this.#pausers.add(who);
    this.#socket?.pause();
  }

  resume(who: unknown): void {
    this.#pausers.delete(who);
    if (this.#pausers.size === 0) this.#socket?.resume();
  }

  /** Whether somebody keeps it from reading. */
  get paused(): boolean {
    return this.#pausers.size > 0;
  }

  /** Gives the open connection up and connects again. */
  reconnect(cause: string): void {
    if (!this.#socket) return;
    this.#cut = cause;
    this.#socket.terminate();
  }

  /**
   * Says goodbye, and resolves when the socket is let go. Frames that the exchange sent before it answered are still
   * handed over until then, none afterwards. May be called twice.
   */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) this.#goodbyeAtMicros = this.options.clock.nowMicros();
    this.#closing.abort();
    this.#unlisten();
    await this.#running;
    this.handlers.onClosed();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const failure = await this.#connectOnce();
      if (signal.aborted) return;
      const asked = failure instanceof HttpStatusError ? (failure.retryAfterMs ?? 0) : 0;
      const retryInMs = Math.max(this.#backoff.nextDelayMs(), asked);
      if (failure) this.handlers.onConnectFailed({ error: failure, retryInMs });
      await this.options.clock.sleep(retryInMs, signal).catch(() => undefined);
    }
  }

  /** Resolves when the connection is gone: with why it could not be opened, or nothing when it had been open. */
  #connectOnce(): Promise<TransportError | HttpStatusError | undefined> {
    const { url, name, clock } = this.options;
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload: this.options.maxFrameBytes,
      handshakeTimeout: this.options.handshakeTimeoutMs,
      // A text frame that is not UTF-8 is handed over like any other: it must not end the connection and disappear.
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
    const onClosing = () => goodbye(socket);
    this.#closing.signal.addEventListener('abort', onClosing, { once: true });
    return new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        const atMicros = clock.nowMicros();
        this.#closing.signal.removeEventListener('abort', onClosing);
        opened?.detach();
        if (opened) {
          const why = this.#causeOf(code, reason, failure);
          const orderlyUntil = this.#closing.signal.aborted ? this.#goodbyeAtMicros : atMicros;
          const wholeUntilMicros = why.wasClean ? orderlyUntil : opened.lastReceivedAtMicros();
          this.handlers.onDisconnected({
            connectionId: connection,
            atMicros,
            completeUntilMicros: wholeUntilMicros,
            ...why,
          });
          this.#cut = undefined;
          resolve(undefined);
        } else if (failure instanceof HttpStatusError) resolve(failure);
        else resolve(new TransportError('connection', `${name} ${url}`, { cause: failure }));
      });
    });
  }

  /** Wires an open socket. */
  #opened(socket: WebSocket, connection: string, bytesRead: () => number): OpenSocket {
    const { clock, url, keepAliveMs } = this.options;
    this.#socket = socket;
    this.#connection = connection;
    this.#cut = undefined;
    if (this.#pausers.size > 0) socket.pause();
    let heardAtMicros = clock.nowMicros();
    const connected = { connectionId: connection, url, atMicros: heardAtMicros };
    socket.on('message', (data: Buffer, binary) => {
      const receivedAtMicros = clock.nowMicros();
      heardAtMicros = receivedAtMicros;
      this.handlers.onFrame({ connectionId: connection, receivedAtMicros, data, binary });
    });
    // Bytes and not messages are the sign of life: a large frame may take longer than a beat to arrive.
    let known = -1;
    let cancel: () => void = () => undefined;
    const beat = () => {
      // While reading is paused nothing can be heard, which says nothing about the other side.
      if (bytesRead() === known && this.#pausers.size === 0) {
        this.reconnect(`no sign of life for ${keepAliveMs} ms`);
        return;
      }
      known = this.#pausers.size > 0 ? -1 : bytesRead();
      if (socket.readyState === WebSocket.OPEN) socket.ping();
      cancel = after(clock, keepAliveMs, beat);
    };
    cancel = after(clock, keepAliveMs, beat);
    this.handlers.onConnected(connected);
    return {
      detach: () => {
        cancel();
        this.#socket = undefined;
        this.#connection = undefined;
      },
      lastReceivedAtMicros: () => heardAtMicros,
    };
  }

  #causeOf(
    code: number,
    reason: Buffer,
    failure: Error | undefined,
  ): Pick<DisconnectedEvent, 'cause' | 'oversized' | 'wasClean'> {
    const limit = this.options.maxFrameBytes;
    if ((failure as NodeJS.ErrnoException | undefined)?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') {
      return { cause: `the exchange sent a frame larger than ${limit} bytes`, oversized: true, wasClean: false };
    }
    // Our goodbye was answered, and the answer comes after all that was sent before: or we cut it, which is 1006.
    if (this.#closing.signal.aborted) return { cause: 'closed by us', oversized: false, wasClean: code !== 1006 };
    if (this.#cut !== undefined) return { cause: this.#cut, oversized: false, wasClean: false };
    if (failure) return { cause: describeError(failure), oversized: false, wasClean: false };
    if (code === 1006) return { cause: 'the connection broke without a goodbye', oversized: false, wasClean: true };
    const said = reason.length > 0 ? `, ${JSON.stringify(reason.toString('utf8'))}` : '';
    return { cause: `closed by the exchange (code ${code}${said})`, oversized: false, wasClean: true };
  }
}

function goodbye(socket: WebSocket): void {
  if (socket.readyState === WebSocket.CONNECTING || socket.isPaused) {
    socket.terminate();
    return;
  }
  socket.close(1000);
  // An answer that came while this process was busy is read first.
  const timer = setTimeout(() => setImmediate(() => socket.terminate()), GOODBYE_MS);
  socket.once('close', () => clearTimeout(timer));
}
