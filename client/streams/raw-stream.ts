import { feedUrl } from '../addresses.js';
import { StreamConnection } from './connection.js';
import { type InvalidMessage, MessageDispatcher, type StreamHandlers } from './message-dispatcher.js';
import { connectionOptions, DEFAULT_QUEUE_CAPACITY, type StreamOptions } from './options.js';

type RawMessage = { readonly type: 'any' };

export interface RawStreamOptions
  extends Omit<StreamOptions<RawMessage>, 'addresses' | 'onMessage' | 'queueCapacity'>,
    Pick<StreamHandlers<RawMessage>, 'onFrame'> {
  /** `wss:`; `ws:` for loopback addresses only. */
  readonly url: string;
}

/**
 * A public feed that the interface mentions without an endpoint or messages (part 6.5), by its address: passes frames on
 * as received, sends nothing, and reconnects.
 */
export class RawStream {
  /** Without its query, which may contain secrets. */
  readonly url: string;
  readonly #connection: StreamConnection;

  /** @throws AddressError */
  constructor(options: RawStreamOptions) {
    const url = feedUrl(options.url);
    this.url = url.replace(/\?.*$/, '');
    const { onConnected } = options;
    const dispatcher = new MessageDispatcher<RawMessage | InvalidMessage>({
      ...options,
      onConnected: onConnected && ((event) => onConnected({ ...event, url: this.url })),
      queueCapacity: DEFAULT_QUEUE_CAPACITY,
      decode: () => ({ type: 'any' }),
      isData: () => true,
      inner: {},
    });
    this.#connection = new StreamConnection({ ...connectionOptions(options, 'feed', url) }, dispatcher);
    dispatcher.attach(this.#connection);
  }

  /** Connects, and reconnects until `close`. */
  start(): void {
    this.#connection.start();
  }

  /** Stops reading from the socket; a few more frames may be received. */
  pause(): void {
    this.#connection.pause(this);
  }

  resume(): void {
    this.#connection.resume(this);
  }

  /** Closes the connection. Frames may be received until it resolves. May be called twice. */
  close(): Promise<void> {
    return this.#connection.close();
  }
}
