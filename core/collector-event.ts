import { z } from 'zod';
import { STREAM_NAMES } from './record.js';

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** The types of fields: each has one column type in `collector_events`. */
export const COLLECTOR_EVENT_TYPES = {
  /** Text of few different values. */
  name: z.string().max(4096),
  stream: z.enum(STREAM_NAMES),
  text: z.string().max(4096),
  names: z.array(z.string().max(4096)),
  /** Unix microseconds of the years 1970 to 2299. */
  time: z.number().int().min(0).max(10_413_791_999_000_000),
  counts: z.record(z.string().max(4096), count),
} as const;
const { name, stream, text, names, time, counts } = COLLECTOR_EVENT_TYPES;

/** Every field of a collector event; its column in `collector_events` has the same name in snake case. */
export const COLLECTOR_EVENT_FIELDS = {
  stream,
  /** UUID of the WebSocket connection. */
  connectionId: name,
  /** Event ID; for a private stream the configured name of the account, for a feed its name. */
  event: name,
  /** Market ID. */
  market: name,
  /** Market IDs; for the balance stream asset IDs. */
  markets: names,
  lastVerifiedAt: time,
  rangeFrom: time,
  rangeTo: time,
  /** UUID; `request.poll` of the records that the poll fetched. */
  pollId: text,
  /** Last sequence number per topic that is durable on the bus. */
  acknowledged: counts,
  /** Configured name of the collector. */
  collector: name,
  version: name,
  shard: name,
  url: name,
  cause: text,
} as const;
type Fields = typeof COLLECTOR_EVENT_FIELDS;

function event<T extends string, F extends keyof Fields>(type: T, ...fields: readonly F[]) {
  const shape = Object.fromEntries(fields.map((field) => [field, COLLECTOR_EVENT_FIELDS[field]]));
  return z.object({ type: z.literal(type), ...(shape as Pick<Fields, F>) });
}

const subscription = ['stream', 'connectionId', 'event'] as const;

/** The receipt of a poll: a row of `polls`. */
const pollReceipt = z.object({
  type: z.literal('poll'),
  pollId: text,
  /** Name of the client's operation. */
  operation: name,
  /** What it queried: for account records the configured name of the account, `activity` for the feed. */
  subject: text,
  startedAt: time,
  /** Number of items that the exchange reported; null when it did not. */
  expectedItems: count.nullable(),
  receivedItems: count,
  distinctItems: count,
  pages: count.max(0xffff_ffff),
  truncated: z.boolean(),
  outcome: z.enum(['complete', 'incomplete', 'failed']),
  cause: text,
});

/**
 * A collector event: what a collector observed about its own connections and polls. The `receivedAt` of its record is
 * the time that it refers to.
 */
export const collectorEventSchema = z.discriminatedUnion('type', [
  event('session-started', 'collector', 'version', 'shard'),
  /** Sent after the acknowledgements: everything received up to its time is durable, up to `acknowledged[topic]`. */
  event('heartbeat', 'acknowledged'),
  event('session-stopped', 'cause'),
  event('connected', 'stream', 'connectionId', 'url'),
  event('disconnected', 'stream', 'connectionId', 'cause'),
  /**
   * The subscription is confirmed; its time is when the first state was received. For a private stream: AUTH was
   * accepted. For a feed: it is connected.
   */
  event('subscribed', ...subscription, 'markets'),
  event('unsubscribed', ...subscription, 'cause'),
  /** The subscription sent nothing more while the socket stayed open; it was current until `lastVerifiedAt`. */
  event('stale', ...subscription, 'lastVerifiedAt', 'cause'),
  /** A probe's answer equalled the known state: the subscription was idle, not stale. */
  event('verified', ...subscription),
  /** Chance history of [rangeFrom, rangeTo] was fetched for the market and is on the bus. */
  event('backfilled', 'stream', 'event', 'market', 'rangeFrom', 'rangeTo', 'pollId'),
  pollReceipt,
]);

export type CollectorEvent = z.infer<typeof collectorEventSchema>;
export type PollReceipt = z.infer<typeof pollReceipt>;
