import { type Clock, systemClock } from '../../core/index.js';
import { streamUrl } from '../addresses.js';
import type { ApiKey } from '../auth/api-key.js';
import { StreamError, TransportError } from '../errors/index.js';
import { ServerTime } from '../server-time.js';
import { type LosslessJson, parseLossless } from '../wire/index.js';
import { StreamConnection } from './connection.js';
import { type InvalidMessage, MessageDispatcher, type StreamEvent } from './message-dispatcher.js';
import { connectionOptions, DEFAULT_QUEUE_CAPACITY, type StreamOptions } from './options.js';
import { after } from './timer.js';

/** AUTH was not accepted; the connection is given up, and another one made after a wait that grows. */
export interface AuthFailedEvent {
  /** UUID of the connection. */
  readonly connectionId: string;
  readonly atMicros: number;
  /** `StreamError`: refused, and why. `TransportError`: no answer in time. */
  readonly error: StreamError | TransportError;
}

export interface PrivateStreamOptions<M> extends StreamOptions<M> {
  readonly apiKey: ApiKey;
  /** The exchange's time; share that of a client (`exchange.serverTime`). Without it the stream has its own. */
  readonly serverTime?: ServerTime;
  /** Longest wait for the answer to AUTH, milliseconds. Default 10,000. */
  readonly authTimeoutMs?: number;
  readonly onAuthFailed?: ((failed: AuthFailedEvent) => void) | undefined;
}

/** What a private stream is: where, and how its frames are read. */
export interface PrivateStreamKind<M> {
  readonly address: 'orderWs' | 'balanceWs';
  readonly path: '/order/ws' | '/balance/ws';
  readonly name: string;
  readonly decode: (body: LosslessJson) => M;
}

interface PrivateMessage {
  readonly type: string;
  readonly reason?: string;
}

const AUTHORIZED: readonly string[] = ['authorized', 'balances'];
const UPDATES: readonly string[] = ['order-update', 'tpsl-update', 'balance-update'];

/** A connection that stays authorized this long was good for something, milliseconds: the next reconnect is quick. */
const GOOD_AFTER_MS = 30_000;

/**
 * What both private streams do (part 5.5): AUTH right after connecting, signed anew for every connection. A refusal
 * costs the connection; before the next AUTH the exchange's clock is asked, in case ours was the reason.
 */
export class PrivateStream<M extends PrivateMessage> implements AsyncIterable<StreamEvent<M | InvalidMessage>> {
  readonly url: string;
  readonly #clock: Clock;
  readonly #serverTime: ServerTime;
  readonly #dispatcher: MessageDispatcher<M>;
  readonly #connection: StreamConnection;
  readonly #ended = new AbortController();
  #authorized = false;
  #measuring: Promise<void> | undefined;
  #cancelTimer: () => void = () => undefined;

  /** @throws AddressError */
  constructor(
    private readonly kind: PrivateStreamKind<M>,
    private readonly options: PrivateStreamOptions<M | InvalidMessage>,
  ) {
    this.url = streamUrl(options.addresses, kind.address);
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
    this.#connection = new StreamConnection(connectionOptions(options, kind.name, this.url), this.#dispatcher);
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

  /** Connects, and keeps connected and authorized until `close` or the signal. */
  start(signal?: AbortSignal): void {
    this.#connection.start(signal);
  }

  /** Stops reading from the socket; a few frames may still come. */
  pause(): void {
    this.#connection.pause(this);
  }

  resume(): void {
    this.#connection.resume(this);
  }

  /** Gives the open connection up and connects again. */
  reconnect(cause: string): void {
    this.#connection.reconnect(cause);
  }

  /** Reads what comes from now on; a reader that is slow slows the socket. */
  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent<M | InvalidMessage>> {
    return this.#dispatcher.read();
  }

  /** Ends the connection and all readers; frames may still come until it resolves. May be called twice. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#connection.close();
  }

  #decode(text: string): M | InvalidMessage {
    try {
      return this.kind.decode(parseLossless(text));
    } catch (error) {
      const reason = error instanceof RangeError ? 'is nested too deep to be read' : 'is not JSON';
      return { type: 'invalid', ok: false, path: '', reason };
    }
  }

  async #authorize(connection: string): Promise<void> {
    if (this.#measuring) await this.#measuring;
    if (this.connectionId !== connection) return;
    const { apiKey } = this.options;
    this.#connection.send(JSON.stringify(apiKey.streamAuth(this.kind.path, this.#serverTime.nowSeconds())));
    this.#awaitAnswer();
  }

  #awaitAnswer(): void {
    const { authTimeoutMs = 10_000 } = this.options;
    this.#cancelTimer = after(this.#clock, authTimeoutMs, () => {
      // While reading is paused nothing can be heard.
      if (this.#connection.paused) {
        this.#awaitAnswer();
        return;
      }
      const error = new TransportError('timeout', this.#where, { detail: `${authTimeoutMs} ms` });
      this.#failed(error, 'AUTH was not answered');
    });
  }

  #onMessage(message: M | InvalidMessage): void {
    if (this.#authorized) return;
    if (AUTHORIZED.includes(message.type)) {
      this.#authorized = true;
      this.#cancelTimer();
      this.#cancelTimer = after(this.#clock, GOOD_AFTER_MS, () => this.#connection.resetBackoff());
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
    // It may have been closed for our AUTH, and nothing is known yet about the clock.
    if (!this.#authorized && this.#serverTime.offsetMs === null) this.#measure();
    this.#authorized = false;
  }

  /** Asks the exchange for its time; when it cannot be had, AUTH goes out with what is known. */
  #measure(): void {
    if (this.#ended.signal.aborted || this.#measuring) return;
    const { handshakeTimeoutMs = 10_000 } = this.options;
    this.#measuring = this.#serverTime
      .measure(this.url, handshakeTimeoutMs, this.#ended.signal)
      .catch(() => undefined)
      .finally(() => {
        this.#measuring = undefined;
      });
  }

  get #where(): string {
    return `AUTH on the ${this.kind.name} ${this.url}`;
  }
}
