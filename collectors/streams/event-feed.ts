import type { ExchangeAddresses, StreamFrame, StreamOptions } from '../../client/index.js';
import type { FeedConnection } from './feed-connection.js';
import type { FeedParts, FeedProtocol } from './feed-protocol.js';

/** A public stream of the exchange, subscribed per event. */
export interface EventFeed {
  /** Subscribes to the event, or to its new markets. */
  add(eventId: string, marketIds: readonly string[]): void;
  remove(eventId: string, cause: string): void;
  close(): Promise<void>;
}

export interface EventFeedOptions extends FeedParts {
  readonly addresses: ExchangeAddresses;
  /** Called with each last price, or each chance, of a market. */
  readonly onPrice?: (eventId: string, marketId: string, price: number) => void;
  readonly reconnectCapMs?: number;
}

interface Handlers<M> {
  /** The feed's connection; it is created after the client's stream. */
  readonly connection: () => FeedConnection;
  /** Publishes the frame: every frame is one message, also a frame that cannot be decoded. */
  onMessage(message: M, frame: StreamFrame): void;
}

/** Options of a client's stream whose frames and state changes go to a feed's connection. */
export function streamOptions<M>(options: EventFeedOptions, handlers: Handlers<M>): StreamOptions<M> {
  const { addresses, clock, reconnectCapMs } = options;
  const { connection, onMessage } = handlers;
  return {
    addresses,
    clock,
    ...(reconnectCapMs === undefined ? {} : { reconnectCapMs }),
    onMessage,
    onConnected: (event) => connection().onConnected(event),
    onDisconnected: (event) => connection().onDisconnected(event),
    onConnectFailed: (event) => connection().onConnectFailed(event),
  };
}

type StreamControls = Pick<FeedProtocol, 'pause' | 'resume' | 'reconnect' | 'close'>;

/** The controls of a client's stream, for a `FeedProtocol`. */
export function controlsOf(stream: StreamControls): StreamControls {
  return {
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    reconnect: (cause) => stream.reconnect(cause),
    close: () => stream.close(),
  };
}

/** Bytes of a text frame that are searched for its event. */
const PREFIX_BYTES = 1024;
const NAMED_EVENT = /"e"\s*:\s*"([^"\\]+)"/;

/** The event of a frame, as its key; a frame without one has a key of its connection, so that it stays in order. */
export function eventOf(frame: StreamFrame, { subscriptions }: Pick<FeedConnection, 'subscriptions'>): string {
  const { parsed, connectionId, encoding, data } = frame;
  // A frame that is not JSON, or too large to parse, may still have its event ID near its beginning.
  if (encoding === 'text') {
    const named = NAMED_EVENT.exec(data.toString('utf8', 0, PREFIX_BYTES))?.[1];
    return named !== undefined && subscriptions.has(named) ? named : connectionId;
  }
  const event = typeof parsed === 'object' && parsed !== null ? (parsed as { e?: unknown }).e : undefined;
  return typeof event === 'string' && event !== '' ? event : connectionId;
}
