import type { StreamFrame, StreamOptions } from '../../client/index.js';
import type { FeedConnection } from './feed-connection.js';
import type { FeedProtocol } from './feed-protocol.js';
import type { StreamFeedOptions } from './order-book-feed.js';

interface Wiring<M> {
  /** The connection that the stream is for; it is made after the stream. */
  readonly connection: () => FeedConnection;
  /** Key of a frame's record. */
  keyOf(frame: StreamFrame): string;
  take(message: M, receivedAtMicros: number): void;
}

/** Options of a stream whose frames go to the bus by way of a connection, which learns of all that befalls the stream. */
export function streamOptions<M>(options: StreamFeedOptions, { connection, keyOf, take }: Wiring<M>): StreamOptions<M> {
  const { addresses, clock, reconnectCapMs } = options;
  return {
    addresses,
    clock,
    ...(reconnectCapMs === undefined ? {} : { reconnectCapMs }),
    onFrame: (frame) => connection().onFrame(frame, keyOf(frame)),
    onMessage: (message, frame) => take(message, frame.receivedAtMicros),
    onConnected: (event) => connection().onConnected(event),
    onDisconnected: (event) => connection().onDisconnected(event),
    onConnectFailed: (event) => connection().onConnectFailed(event),
  };
}

type Steering = Pick<FeedProtocol, 'pause' | 'resume' | 'recycle' | 'close'>;

/** What a connection does with its stream as a whole. */
export function steering(stream: Steering): Steering {
  return {
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    recycle: (cause) => stream.recycle(cause),
    close: () => stream.close(),
  };
}
