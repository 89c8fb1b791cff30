import { type Clock, type ExchangeAddresses, systemClock, USER_AGENT } from '../../core/index.js';
import type { ConnectionOptions } from './connection.js';
import type { StreamHandlers } from './message-dispatcher.js';

export interface StreamOptions<M> extends StreamHandlers<M> {
  readonly addresses: ExchangeAddresses;
  /** Maximum time for the handshake, milliseconds. Default 10,000. */
  readonly handshakeTimeoutMs?: number;
  /** Maximum frame size, bytes. Default 16 MiB. */
  readonly maxFrameBytes?: number;
  /** Interval between pings; after one interval without received bytes the stream reconnects, milliseconds. Default 15,000. */
  readonly keepAliveMs?: number;
  /** Upper bound of the first reconnect delay, milliseconds. Default 250. */
  readonly reconnectBaseMs?: number;
  /** Upper bound of every reconnect delay, also of one that the exchange requires (`Retry-After`). Default 30,000 ms. */
  readonly reconnectCapMs?: number;
  /** Number of events that may wait for a slow reader before the socket is paused. Default 10,000. */
  readonly queueCapacity?: number;
  /** Default: `chancery`. */
  readonly userAgent?: string;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** The options of a stream's connection, with their defaults. */
export function connectionOptions<M>(
  options: Omit<StreamOptions<M>, 'addresses'>,
  name: string,
  url: string,
): ConnectionOptions {
  return {
    url,
    name,
    handshakeTimeoutMs: options.handshakeTimeoutMs ?? 10_000,
    maxFrameBytes: options.maxFrameBytes ?? 16 * 1024 * 1024,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    reconnectBaseMs: options.reconnectBaseMs ?? 250,
    reconnectCapMs: options.reconnectCapMs ?? 30_000,
    clock: options.clock ?? systemClock,
    random: options.random,
    userAgent: options.userAgent ?? USER_AGENT,
  };
}

export const DEFAULT_QUEUE_CAPACITY = 10_000;
