import { type Clock, type ExchangeAddresses, systemClock } from '../../core/index.js';
import type { ConnectionOptions } from './connection.js';
import type { StreamHandlers } from './message-dispatcher.js';

export interface StreamOptions<M> extends StreamHandlers<M> {
  readonly addresses: ExchangeAddresses;
  /** Longest wait for the handshake, milliseconds. Default 10,000. */
  readonly handshakeTimeoutMs?: number;
  /** Largest accepted frame, bytes. Default 16 MiB. */
  readonly maxFrameBytes?: number;
  /** A connection without a sign of life between two pings of this distance is given up, milliseconds. Default 15,000. */
  readonly keepAliveMs?: number;
  /** Bound of the first wait before a reconnect, and of any wait, milliseconds. Defaults 250 and 30,000. */
  readonly reconnectBaseMs?: number;
  readonly reconnectCapMs?: number;
  /** Events that wait for a slow reader before the socket is paused. Default 10,000. */
  readonly queueCapacity?: number;
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
  };
}

export const DEFAULT_QUEUE_CAPACITY = 10_000;
