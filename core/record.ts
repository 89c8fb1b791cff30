import { jsonExcess } from './json-bytes.js';

/** A raw record: one WebSocket frame, one REST response body, or one collector event. */
export interface RawRecord {
  readonly kind: RecordKind;
  /** UUID of the collector session that received it. */
  readonly sessionId: string;
  /** Increases by one per session and topic, from 1. */
  readonly sequence: number;
  /** Time of receipt, Unix microseconds, taken before the payload is processed. */
  readonly receivedAt: number;
  /** The request: see `StreamRequest`, `RestRequest`; `{}` for collector events. Never holds a secret. */
  readonly request: Readonly<Record<string, unknown>>;
  /**
   * How `body` represents a payload that is not valid JSON, or that exceeds the parsing limits (`jsonExcess`): a string
   * of its text, or of its base64.
   */
  readonly encoding?: 'text' | 'base64';
  /** Present when the body was too large for one bus record: pieces of one `sequence`, `i` from 0 to `of` - 1, body a string. */
  readonly piece?: { readonly i: number; readonly of: number };
  /** The exact text received when it is valid JSON (here: parsed), else a string as `encoding` says. */
  readonly body: unknown;
}

/**
 * A raw record as the value of a bus record: a JSON object with short keys in exactly this order, because the hot path
 * reads it by position. `enc` and `piece` are optional.
 */
export interface EnvelopeJson {
  readonly v: 1;
  readonly kind: RecordKind;
  readonly sid: string;
  readonly n: number;
  readonly at: number;
  readonly req: Readonly<Record<string, unknown>>;
  readonly enc?: 'text' | 'base64';
  readonly piece?: { readonly i: number; readonly of: number };
  readonly body: unknown;
}

/** The record that a parsed envelope describes. */
export function recordOf(envelope: EnvelopeJson): RawRecord {
  const { kind, sid, n, at, req, enc, piece, body } = envelope;
  return {
    ...{ kind, sessionId: sid, sequence: n, receivedAt: at, request: req, body },
    ...(enc && { encoding: enc }),
    ...(piece && { piece }),
  };
}

export const TOPICS = {
  orderBook: 'chancery.order-book',
  chance: 'chancery.chance',
  reference: 'chancery.reference',
  account: 'chancery.account',
  collectorEvents: 'chancery.collector-events',
} as const;
export type Topic = (typeof TOPICS)[keyof typeof TOPICS];

/** Topics whose records hold no account, and no user outside frames of undocumented feeds. */
export const PUBLIC_TOPICS: readonly Topic[] = [TOPICS.orderBook, TOPICS.chance, TOPICS.reference];

/** Every record kind and its topic. */
export const RECORD_KINDS = {
  'order-book.frame': TOPICS.orderBook,
  'chance.frame': TOPICS.chance,
  'chance.history': TOPICS.chance,
  'reference.events': TOPICS.reference,
  'reference.categories': TOPICS.reference,
  'reference.tags': TOPICS.reference,
  'reference.coins': TOPICS.reference,
  /** A frame of a feed without documented messages (part 6.5): stored unchanged, not transformed into rows. */
  'reference.feed-frame': TOPICS.reference,
  'account.orders': TOPICS.account,
  'account.trades': TOPICS.account,
  'account.positions': TOPICS.account,
  'account.active-orders': TOPICS.account,
  'account.activity': TOPICS.account,
  'account.transactions': TOPICS.account,
  'account.balances': TOPICS.account,
  'account.tpsl-orders': TOPICS.account,
  'account.profile-stats': TOPICS.account,
  'account.position-stats': TOPICS.account,
  'account.order-frame': TOPICS.account,
  'account.balance-frame': TOPICS.account,
  'collector.event': TOPICS.collectorEvents,
} as const satisfies Record<string, Topic>;
export type RecordKind = keyof typeof RECORD_KINDS;

/** Operations of polls that concern no account: their receipts are in every dataset. */
export const PUBLIC_POLLS = [
  'event-search',
  'new-events',
  'categories',
  'popular-tags',
  'coins',
  'chance-history',
  'activity',
] as const;
export type PublicPoll = (typeof PUBLIC_POLLS)[number];

/**
 * The streams that are subscribed per event, and the table that each fills: an open event that is not subscribed on one of them has a gap
 * there.
 */
export const EVENT_STREAM_TABLES = { 'order-book': 'price_ticks', chance: 'chance_points' } as const;
export type EventStream = keyof typeof EVENT_STREAM_TABLES;
export const EVENT_STREAMS = Object.keys(EVENT_STREAM_TABLES) as EventStream[];

/**
 * A WebSocket stream of the exchange; `feed` is a stream without documented messages, recorded verbatim by its address.
 */
export const STREAM_NAMES = [...EVENT_STREAMS, 'orders', 'balance', 'feed'] as const;
export type StreamName = (typeof STREAM_NAMES)[number];

/** The kind of record that a stream's frames become. */
export const STREAM_KINDS = {
  'order-book': 'order-book.frame',
  chance: 'chance.frame',
  orders: 'account.order-frame',
  balance: 'account.balance-frame',
  feed: 'reference.feed-frame',
} as const satisfies Record<StreamName, RecordKind>;

/** `request` of a stream frame. */
export interface StreamRequest {
  readonly stream: StreamName;
  /** UUID of the WebSocket connection. */
  readonly connection: string;
  /** For private streams: the configured name of the account. */
  readonly account?: string;
  /** For feeds recorded unchanged: the configured name of the feed. */
  readonly feed?: string;
  /**
   * For a PRICES_DATA_DELTA: the numbers, from 0, of its valid entries that equal the previous entry of the same market on
   * this connection. Absent when there are none.
   */
  readonly repeated?: readonly number[];
  /** For a response to HISTORY: the requested event and range, Unix seconds. */
  readonly event?: string;
  readonly from?: number;
  readonly to?: number;
  /** For a frame above the maximum size, which is lost: `body` is its first bytes, never parsed. */
  readonly oversized?: {
    /** The payload's length in the frame header; null for a message in several frames. */
    readonly declaredBytes: number | null;
  };
}

/** The cause of a gap, and the reason of the dead letter, after a frame above the maximum size. Views compare with it. */
export const FRAME_TOO_LARGE = 'frame too large';

/** The cause of a gap: the exchange states other values than were received, so changes are missing. Views compare with it. */
export const DIVERGED = 'diverged';

/** `request` of a REST response. */
export interface RestRequest {
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  /** HTTP status of the response. */
  readonly status: number;
  /** Number of previous attempts of this request. */
  readonly attempt: number;
  /** Why the response body is incomplete: the connection broke, it took too long or was too large. Absent if complete. */
  readonly cut?: 'broken-off' | 'timeout' | 'too-large';
  /** UUID of its poll, which may have several pages. */
  readonly poll: string;
  /**
   * For reference data: the entries that this session published before, in the same state and the same hour of UTC. Absent
   * when there are none.
   */
  readonly unchanged?: readonly UnchangedEntries[];
  /** Zero-based page, for paged operations. */
  readonly page?: number;
  /** For account histories: when page 0 of this pass over the pages was received, Unix microseconds. */
  readonly pass?: number;
  /** For account records: the configured name of the account; absent for activity, which covers all users. */
  readonly account?: string;
  /** For TP/SL orders: the requested asset. */
  readonly asset?: string;
  /** For chance history: the requested range. */
  readonly event?: string;
  readonly market?: string;
  readonly period?: string;
  /** Unix seconds. */
  readonly from?: number;
  readonly to?: number;
}

/** Consecutive entries of a list that were published in their present state before. */
export interface UnchangedEntries {
  /** Receipt of the response with which they were first published in this state and hour, Unix microseconds. */
  readonly since: number;
  /** Number, from 0, of the first of them among the valid entries of the response; an event is followed by its markets. */
  readonly from: number;
  /** Number of the last of them. */
  readonly to: number;
}

export interface EnvelopeFields {
  kind: RecordKind;
  sessionId: string;
  sequence: number;
  receivedAt: number;
  /** `request` as JSON text, encoded once per connection or request. */
  requestJson: string;
  encoding?: 'text' | 'base64' | undefined;
  piece?: { i: number; of: number } | undefined;
  /** The body as JSON text. */
  bodyJson: string;
}

/** Encodes the value of a raw record. */
export function encodeEnvelope(f: EnvelopeFields): string {
  const enc = f.encoding ? `"enc":"${f.encoding}",` : '';
  const piece = f.piece ? `"piece":{"i":${f.piece.i},"of":${f.piece.of}},` : '';
  return `{"v":1,"kind":"${f.kind}","sid":"${f.sessionId}","n":${f.sequence},"at":${f.receivedAt},"req":${f.requestJson},${enc}${piece}"body":${f.bodyJson}}`;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface EncodedBody {
  /** As JSON text. */
  bodyJson: string;
  encoding?: 'text' | 'base64';
  /** The parsed value, if the payload was parsed as JSON. */
  parsed?: unknown;
  /** Why a payload that may be JSON was not parsed, like `holds more than …`. */
  excess?: string;
}

/**
 * Encodes a payload as an envelope's body: unchanged if it is valid JSON, else as a JSON string with its encoding. Takes a
 * few milliseconds per megabyte for any content.
 */
export function encodeBody(received: Buffer): EncodedBody {
  let text: string;
  try {
    text = utf8.decode(received);
  } catch {
    return { bodyJson: `"${received.toString('base64')}"`, encoding: 'base64' };
  }
  const excess = jsonExcess(received);
  if (excess !== undefined) return { bodyJson: JSON.stringify(text), encoding: 'text', excess };
  try {
    return { parsed: JSON.parse(text), bodyJson: text };
  } catch {
    return { bodyJson: JSON.stringify(text), encoding: 'text' };
  }
}
