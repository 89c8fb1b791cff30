import type { AuditedPrices, Clock, CollectSettings, OutageLog, StreamName } from '../../core/index.js';
import type { CollectorEventWriter } from '../collector-event-writer.js';
import type { CollectorMetrics } from '../metrics.js';
import type { Publisher } from '../publisher.js';
import type { AuditSchedule } from './audit-schedule.js';
import type { Subscription } from './subscription.js';

/** Dependencies that all feeds share. */
export interface FeedParts {
  readonly publisher: Publisher;
  readonly collectorEvents: CollectorEventWriter;
  readonly metrics: CollectorMetrics;
  readonly outage: OutageLog;
  readonly clock: Clock;
  readonly settings: CollectSettings;
  /** Timeout of a probe and of a subscription's initial snapshot, milliseconds. */
  readonly answerMs: number;
  /** Called with an initial snapshot: data of the event before it may have been missed, and should be backfilled if possible. */
  readonly onGap?: (eventId: string) => void;
}

/** The protocol of one stream of the exchange, on one connection. */
export interface FeedProtocol {
  readonly stream: StreamName;
  /** For private streams: the configured name of the account. */
  readonly account?: string;
  /** Maximum number of pending probes. */
  readonly maxProbes: number;
  /** A probe's response may not include changes younger than this, microseconds. */
  readonly answerLagMicros: number;
  /** Of a stream whose events are audited: when to probe, and the prices of a value in text form. */
  readonly audits?: {
    readonly schedule: AuditSchedule;
    pricesOf(value: string): AuditedPrices;
  };
  subscribe(subscription: Subscription): void;
  /** Subscribes again on the open connection. */
  resubscribe(subscription: Subscription): void;
  unsubscribe(subscription: Subscription): void;
  /** Requests the values of the event; false when nothing could be sent. */
  probe(subscription: Subscription): boolean;
  pause(): void;
  resume(): void;
  reconnect(cause: string): void;
  close(): Promise<void>;
}

/** The current state of a connection. */
export interface ConnectionState {
  /** UUID; undefined while it is not connected. */
  readonly connectionId: string | undefined;
  /** Time of receipt of the last frame, Unix microseconds. */
  readonly receivedAt: number;
  /** Whether reading is paused because the bus is behind. */
  readonly paused: boolean;
  readonly subscriptions: ReadonlyMap<string, Subscription>;
}
