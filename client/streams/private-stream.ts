import { type Clock, EXCHANGE_HOSTS, type PrivateStreamHost, systemClock } from '../../core/index.js';
import { streamUrl } from '../addresses.js';
import type { ApiKey } from '../auth/api-key.js';
import { StreamError, TransportError } from '../errors/index.js';
import { ServerTime } from '../server-time.js';
import { type LosslessJson, parseLossless } from '../wire/index.js';
import { StreamConnection } from './connection.js';
import { type InvalidMessage, MessageDispatcher, type StreamEvent } from './message-dispatcher.js';
import { connectionOptions, DEFAULT_QUEUE_CAPACITY, type StreamOptions } from './options.js';
import { after } from './timer.js';

/** AUTH was not accepted. The stream reconnects with exponential backoff. */
export interface AuthFailedEvent {
  /** UUID of the connection. */
  readonly connectionId: string;
  readonly atMicros: number;
  /** `StreamError`: rejected, with the reason. `TransportError`: no response in time. */
  readonly error: StreamError | TransportError;
}

export interface PrivateStreamOptions<M> extends StreamOptions<M> {
  readonly apiKey: ApiKey;
  /** The exchange's clock; pass that of a client (`exchange.serverTime`). By default the stream has its own. */
  readonly serverTime?: ServerTime;
  /** Maximum time for the response to AUTH, milliseconds. Default 10,000. */
  readonly authTimeoutMs?: number;
  readonly onAuthFailed?: ((failed: AuthFailedEvent) => void) | undefined;
}

/** The differences between the private streams. */
export interface PrivateStreamKind<M> {
  readonly host: PrivateStreamHost;
  readonly decode: (body: LosslessJson) => M;
}

interface PrivateMessage {
  readonly type: string;
  readonly reason?: string;
}

const AUTHORIZED: readonly string[] = ['authorized', 'balances'];
const UPDATES: readonly string[] = ['order-update', 'tpsl-update', 'balance-update'];

/** After being authorized this long, a connection resets the reconnect delay, milliseconds. */
const STABLE_AFTER_MS = 30_000;

/**
 * The common part of both private streams (part 5.5): AUTH right after connecting, signed for every connection. After a
 * rejection the stream requests the exchange's time, in case our clock was the reason, and reconnects.
 */
export class PrivateStream<M extends PrivateMessage> implements AsyncIterable<StreamEvent<M | InvalidMessage>> {
  readonly url: string;
  readonly #clock: Clock;
  readonly #serverTime: ServerTime;
  readonly #dispatcher: MessageDispatcher<M>;
  readonly #connection: StreamConnection;
  readonly #closing = new AbortController();
  #authorized = false;
  #measuring: Promise<void> | undefined;
  #cancelTimer: () => void = () => undefined;

  /** @throws AddressError */
  constructor(
    private readonly kind: PrivateStreamKind<M>,
    private readonly options: PrivateStreamOptions<M | InvalidMessage>,
  ) {
    this.url = streamUrl(options.addresses, kind.host);
    this.#clock = options.clock ?? systemClock;
    this.#serverTime = options.serverTime ?? new ServerTime(this.#clock);
    this.#dispatcher = new MessageDispatcher<M>({
      ...options,
      queueCapacity: options.queueCapacity ?? DEFAULT_QUEUE_CAPACITY,
      decode: (_, text) => this.#decode(text),
      isData: (message) => UPDATES.includes(message.type),
      inner: {
        onMessage: (message) => this.#onMessage(message),
        onConnected: ({ connectionId: connection }) => void this.#authorize(connection),
        onDisconnected: () => this.#onDisconnected(),
      },
    });
    this.#connection = new StreamConnection(
      connectionOptions(options, EXCHANGE_HOSTS[kind.host].serves, this.url),
      this.#dispatcher,
    );
    this.#dispatcher.attach(this.#connection);
  }

  /** UUID of the open connection. */
  get connectionId(): string | undefined {
    return this.#connection.connectionId;
  }

  /** Whether the open connection's AUTH was accepted. */
  get authorized(): boolean {
    return this.#authorized;
  }

  /** Connects and sends AUTH, and reconnects until `close` or the signal. */
  start(signal?: AbortSignal): void {
    this.#connection.start(signal);
  }

  /** Stops reading from the socket; a few more frames may be received. */
  pause(): void {
    this.#connection.pause(this);
  }

  resume(): void {
    this.#connection.resume(this);
  }

  /** Closes the connection and connects again. @param cause why, for `onDisconnected` */
  reconnect(cause: string): void {
    this.#connection.reconnect(cause);
  }

  /** Yields all events from now on. A slow reader slows the socket down. */
  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent<M | InvalidMessage>> {
    return this.#dispatcher.read();
  }

  /** Closes the connection and all readers. Frames may be received until it resolves. May be called twice. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connection.close();
  }

  #decode(text: string): M | InvalidMessage {
    try {
      return this.kind.decode(parseLossless(text));
    } catch (error) {
      const reason = error instanceof RangeError ? 'is nested too deeply to be parsed' : 'is not JSON';
      return { type: 'invalid', ok: false, path: '', reason };
    }
  }

  async #authorize(connection: string): Promise<void> {
    if (this.#measuring) await this.#measuring;
    if (this.connectionId !== connection) return;
    const { apiKey } = this.options;
    const { path } = EXCHANGE_HOSTS[this.kind.host];
    this.#connection.send(JSON.stringify(apiKey.streamAuth(path, this.#serverTime.nowSeconds())));
    this.#awaitResponse();
  }

  #awaitResponse(): void {
    const { authTimeoutMs = 10_000 } = this.options;
    this.#cancelTimer = after(this.#clock, authTimeoutMs, () => {
      // While reading is paused, no response can be received.
      if (this.#connection.paused) {
        this.#awaitResponse();
        return;
      }
      const error = new TransportError('timeout', this.#where, { detail: `${authTimeoutMs} ms` });
      this.#failed(error, 'no response to AUTH in time');
    });
  }

  #onMessage(message: M | InvalidMessage): void {
    if (this.#authorized) return;
    if (AUTHORIZED.includes(message.type)) {
      this.#authorized = true;
      this.#cancelTimer();
      this.#cancelTimer = after(this.#clock, STABLE_AFTER_MS, () => this.#connection.resetBackoff());
    } else if (message.type === 'error') {
      this.#measure();
      this.#failed(new StreamError(this.#where, message.reason ?? '', 'check the API key'), 'AUTH was refused');
    }
  }

  #failed(error: StreamError | TransportError, cause: string): void {
    const { connectionId: connection } = this;
    this.#cancelTimer();
    if (connection === undefined) return;
    this.options.onAuthFailed?.({ connectionId: connection, atMicros: this.#clock.nowMicros(), error });
    this.#connection.reconnect(cause);
  }

  #onDisconnected(): void {
    this.#cancelTimer();
    // The exchange may have closed the connection because of our AUTH, and its time is not known yet.
    if (!this.#authorized && this.#serverTime.offsetMs === null) this.#measure();
    this.#authorized = false;
  }

  /** Requests the exchange's time; when that fails, AUTH is sent with the current estimate. */
  #measure(): void {
    if (this.#closing.signal.aborted || this.#measuring) return;
    const { handshakeTimeoutMs = 10_000 } = this.options;
    this.#measuring = this.#serverTime
      .measure(this.url, handshakeTimeoutMs, this.#closing.signal)
      .catch(() => undefined)
      .finally(() => {
        this.#measuring = undefined;
      });
  }

  get #where(): string {
    return `AUTH on the ${EXCHANGE_HOSTS[this.kind.host].serves} ${this.url}`;
  }
}
