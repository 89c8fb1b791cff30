import { jsonExcess } from './json-bytes.js';

/** A raw record: one WebSocket frame, one REST response body, or one collector event. */
export interface RawRecord {
  readonly kind: RecordKind;
  /** UUID of the collector session that received it. */
  readonly sessionId: string;
  /** Increases by one per session and topic, from 1. */
  readonly sequence: number;
  /** Receive time, Unix microseconds, taken before anything else was done with the payload. */
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

/** Every record kind and the topic it goes to. */
export const RECORD_KINDS = {
  'order-book.frame': TOPICS.orderBook,
  'chance.frame': TOPICS.chance,
  'chance.history': TOPICS.chance,
  'reference.events': TOPICS.reference,
  'reference.categories': TOPICS.reference,
  'reference.tags': TOPICS.reference,
  'reference.coins': TOPICS.reference,
  /** A frame of a feed that is named without messages (part 6.5): kept as it came, no rows are made of it. */
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

/**
 * A WebSocket stream of the exchange; `feed` is a stream without documented messages, recorded verbatim by its address.
 */
export const STREAM_NAMES = ['order-book', 'chance', 'orders', 'balance', 'feed'] as const;
export type StreamName = (typeof STREAM_NAMES)[number];

/** `request` of a stream frame. */
export interface StreamRequest {
  readonly stream: StreamName;
  /** UUID of the WebSocket connection. */
  readonly connection: string;
  /** For private streams: the configured name of the account. */
  readonly account?: string;
  /** For feeds recorded as they come: the configured name of the feed. */
  readonly feed?: string;
}

/** `request` of a REST response. */
export interface RestRequest {
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  /** HTTP status of the answer. */
  readonly status: number;
  /** From 0; how often this request had been tried before. */
  readonly attempt: number;
  /** Why the body is not the whole answer: it broke off, took too long or was too large. Absent for whole answers. */
  readonly cut?: 'broken-off' | 'timeout' | 'too-large';
  /** UUID of the poll (all pages of one walk) that it belongs to. */
  readonly poll: string;
  /** Zero-based page, for paged operations. */
  readonly page?: number;
  /** For account records: the configured name of the account that asked; absent for activity, which is everybody's. */
  readonly account?: string;
  /** For TP/SL orders: the asset that was asked for. */
  readonly asset?: string;
  /** For chance history: what was asked. */
  readonly event?: string;
  readonly market?: string;
  readonly period?: string;
  /** Unix seconds. */
  readonly from?: number;
  readonly to?: number;
}

export interface EnvelopeFields {
  kind: RecordKind;
  sessionId: string;
  sequence: number;
  receivedAt: number;
  /** `request` as JSON text, made once per connection or request. */
  requestJson: string;
  encoding?: 'text' | 'base64' | undefined;
  piece?: { i: number; of: number } | undefined;
  /** The body as JSON text. */
  bodyJson: string;
}

/** The text of a raw record's value. */
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
  /** What was received, where it is JSON and was parsed. */
  parsed?: unknown;
  /** Why it was not parsed, like `holds more than …`, where it may be JSON. */
  excess?: string;
}

/**
 * What arrived, as an envelope's body: verbatim when it is valid JSON, else a JSON string of it, and how. Takes a few
 * milliseconds per megabyte, whatever it holds.
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
