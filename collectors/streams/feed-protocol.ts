import type { Clock, OutageLog, RecordKind, StreamName } from '../../core/index.js';
import type { Marks } from '../marks.js';
import type { CollectorMetrics } from '../metrics.js';
import type { Publisher } from '../publisher.js';
import type { Subscription } from './subscription.js';

/** What every feed is made of. */
export interface FeedParts {
  readonly publisher: Publisher;
  readonly marks: Marks;
  readonly metrics: CollectorMetrics;
  readonly outage: OutageLog;
  readonly clock: Clock;
  /** Silence after which a subscription is probed, milliseconds. A busy one is probed after three times as much. */
  readonly silenceMs: number;
  /** How long an answer is waited for, milliseconds. */
  readonly answerMs: number;
  /** Data of the event was missed, or may have been: what can be repaired should be. */
  readonly onGap?: (eventId: string) => void;
}

/** What one stream of the exchange does in its own way, on one connection. */
export interface FeedProtocol {
  readonly stream: StreamName;
  readonly kind: RecordKind;
  /** Configured name of the account whose stream it is. */
  readonly account?: string;
  /** Probes that may be unanswered at a time. */
  readonly maxProbes: number;
  /** How old a change is at least that every answer to a probe knows of, microseconds. */
  readonly settleMicros: number;
  subscribe(subscription: Subscription): void;
  /** Subscribes anew on the open connection. */
  resubscribe(subscription: Subscription): void;
  unsubscribe(subscription: Subscription): void;
  /** Asks the exchange for its word on the event; false when nothing could be sent. */
  probe(subscription: Subscription): boolean;
  pause(): void;
  resume(): void;
  recycle(cause: string): void;
  close(): Promise<void>;
}

/** A connection as it is at the moment. */
export interface FeedLine {
  /** UUID; undefined while there is none. */
  readonly connection: string | undefined;
  /** When the last frame came, about whatever, Unix microseconds. */
  readonly heardAt: number;
  /** Nothing is read from it for now. */
  readonly paused: boolean;
  readonly subscriptions: ReadonlyMap<string, Subscription>;
}
