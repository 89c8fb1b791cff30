import type { Clock, OutageLog, RecordKind, StreamName } from '../../core/index.js';
import type { CollectorEventWriter } from '../collector-event-writer.js';
import type { CollectorMetrics } from '../metrics.js';
import type { Publisher } from '../publisher.js';
import type { Subscription } from './subscription.js';

/** Dependencies that all feeds share. */
export interface FeedParts {
  readonly publisher: Publisher;
  readonly collectorEvents: CollectorEventWriter;
  readonly metrics: CollectorMetrics;
  readonly outage: OutageLog;
  readonly clock: Clock;
  /** Silence after which a subscription is probed, milliseconds. A busy one is probed after three times as long. */
  readonly silenceMs: number;
  /** Timeout of a probe's answer and of a subscription's first state, milliseconds. */
  readonly answerMs: number;
  /** Data of the event was missed, or may have been: it should be backfilled where that is possible. */
  readonly onGap?: (eventId: string) => void;
}

/** How one stream of the exchange is used, on one connection. */
export interface FeedProtocol {
  readonly stream: StreamName;
  readonly kind: RecordKind;
  /** Configured name of the account whose stream it is. */
  readonly account?: string;
  /** Probes that may be unanswered at the same time. */
  readonly maxProbes: number;
  /** A probe's answer may not contain changes younger than this, microseconds. */
  readonly answerLagMicros: number;
  subscribe(subscription: Subscription): void;
  /** Subscribes anew on the open connection. */
  resubscribe(subscription: Subscription): void;
  unsubscribe(subscription: Subscription): void;
  /** Asks the exchange for the values of the event; false when nothing could be sent. */
  probe(subscription: Subscription): boolean;
  pause(): void;
  resume(): void;
  reconnect(cause: string): void;
  close(): Promise<void>;
}

/** The present state of a connection. */
export interface ConnectionState {
  /** UUID; undefined while it is not connected. */
  readonly connectionId: string | undefined;
  /** When the last frame of any event was received, Unix microseconds. */
  readonly receivedAt: number;
  /** Nothing is read from it while the bus is behind. */
  readonly paused: boolean;
  readonly subscriptions: ReadonlyMap<string, Subscription>;
}
