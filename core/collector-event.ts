import { z } from 'zod';
import { STREAM_NAMES } from './record.js';

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** The types of fields: each has one column type in `collector_events`. */
export const COLLECTOR_EVENT_TYPES = {
  /** Text with few distinct values. */
  name: z.string().max(4096),
  stream: z.enum(STREAM_NAMES),
  text: z.string().max(4096),
  names: z.array(z.string().max(4096)),
  /** Unix microseconds of the years 1970 to 2299. */
  time: z.number().int().min(0).max(10_413_791_999_000_000),
  /** Counts or times by name. */
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
  /** Start of the time without a hole that was fetched up to `rangeTo`, in this and earlier ranges. */
  fetchedFrom: time,
  /** UUID; `request.poll` of the records that the poll fetched. */
  pollId: text,
  /** Last sequence number per topic that is durable on the bus. */
  acknowledged: counts,
  /** When the last frame of each open connection was received, by its UUID; Unix microseconds. */
  lastFrames: counts,
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

/** The receipt of a poll; it becomes a row of `polls`. */
const pollReceipt = z.object({
  type: z.literal('poll'),
  pollId: text,
  /** Name of the client's operation. */
  operation: name,
  /** For account records the configured name of the account; `activity` for the activity feed. */
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

/** Why an audit was made. Only those at intervals do not depend on what was lost: losses are estimated from them. */
export const AUDIT_REASONS = ['interval', 'silence', 'difference', 'unrequested'] as const;
export type AuditReason = (typeof AUDIT_REASONS)[number];

/** Prices of a market as the exchange sends them. */
const auditedPrices = z.object({ last: z.number(), bid: z.number(), ask: z.number() });
const markets = count.max(0xffff_ffff);

/**
 * An audit of the order book of an event: all its prices were compared with those that the exchange states. It becomes a row
 * of `audits`, and one of `audit_mismatches` per unequal market.
 */
const audited = z.object({
  type: z.literal('audited'),
  stream,
  connectionId: name,
  event: name,
  reason: z.enum(AUDIT_REASONS),
  lastEqualAt: time,
  changes: count,
  compared: markets,
  changed: markets,
  missed: markets,
  late: markets,
  mismatches: z.array(z.object({ market: name, ours: auditedPrices, theirs: auditedPrices })),
});

/**
 * A collector event: what a collector observed about its own connections and polls. The `receivedAt` of its record is its
 * time.
 */
export const collectorEventSchema = z.discriminatedUnion('type', [
  event('session-started', 'collector', 'version', 'shard'),
  /**
   * Written after the acknowledgements: everything received up to its time is durable, up to `acknowledged[topic]`. If it is
   * the last one of a killed collector, its connections are known to have worked up to their `lastFrames`.
   */
  event('heartbeat', 'acknowledged', 'lastFrames'),
  event('session-stopped', 'cause'),
  event('connected', 'stream', 'connectionId', 'url'),
  event('disconnected', 'stream', 'connectionId', 'cause'),
  /**
   * The subscription is confirmed; its time is the receipt of the initial snapshot. Private stream: AUTH was accepted. Feed: it
   * is connected.
   */
  event('subscribed', ...subscription, 'markets'),
  event('unsubscribed', ...subscription, 'cause'),
  /** The subscription stopped sending while the socket stayed open; it was current until `lastVerifiedAt`. */
  event('stale', ...subscription, 'lastVerifiedAt', 'cause'),
  /** The response to a probe equalled the known state: the subscription was idle, not stale. Audited streams: `audited`. */
  event('verified', ...subscription),
  /**
   * Chance history of [rangeFrom, rangeTo] was fetched for the market and is durable on the bus; so is that of
   * [fetchedFrom, rangeTo], by earlier ranges that touch.
   */
  event('backfilled', 'stream', 'event', 'market', 'rangeFrom', 'rangeTo', 'fetchedFrom', 'pollId'),
  pollReceipt,
  audited,
]);

export type CollectorEvent = z.infer<typeof collectorEventSchema>;

/** The types that end the observed range of a subscription: at `lastVerifiedAt` if they have it, else at their own time. */
export const ENDS_OBSERVED_RANGE = ['unsubscribed', 'stale'] as const satisfies readonly CollectorEvent['type'][];
export type PollReceipt = z.infer<typeof pollReceipt>;
export type AuditReport = z.infer<typeof audited>;
export type AuditedPrices = z.infer<typeof auditedPrices>;

/** The cause of a session that stopped without an error. */
export const CLEAN_SHUTDOWN = 'clean shutdown';
