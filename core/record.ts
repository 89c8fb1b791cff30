import { jsonExcess } from './json-bytes.js';

/**
 * A raw record: one WebSocket frame, one REST response body, or one mark. On a topic its value is the JSON object
 * `{"v":1,"kind":…,"sid":…,"n":…,"at":…,"req":{…},"body":<verbatim>}`, in exactly this order of fields (readers of the
 * hot path rely on it), with the optional `enc` and `piece` between `req` and `body`.
 */
export interface RawRecord {
  readonly v: 1;
  readonly kind: RecordKind;
  /** UUID of the collector session that received it. */
  readonly sid: string;
  /** Counts up by one per session and topic, from 1. */
  readonly n: number;
  /** Receive time, Unix microseconds, taken before anything else was done with what arrived. */
  readonly at: number;
  /** What was asked: see `StreamRequest`, `RestRequest`; `{}` for marks. Never holds a secret. */
  readonly req: Readonly<Record<string, unknown>>;
  /**
   * How `body` stands for what arrived when that was not valid JSON, or more of it than is parsed (`jsonExcess`): as a
   * string of its text, or of its base64.
   */
  readonly enc?: 'text' | 'base64';
  /** Present when the body was too large for one bus record: pieces of one `n`, `i` from 0 to `of` - 1, body a string. */
  readonly piece?: { readonly i: number; readonly of: number };
  /** The exact text received when it is valid JSON (here: parsed), else a string as `enc` says. */
  readonly body: unknown;
}

export const TOPICS = {
  orderBook: 'chancery.order-book',
  chance: 'chancery.chance',
  reference: 'chancery.reference',
  account: 'chancery.account',
  marks: 'chancery.marks',
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
  mark: TOPICS.marks,
} as const satisfies Record<string, Topic>;
export type RecordKind = keyof typeof RECORD_KINDS;

/** `req` of a stream frame. */
export interface StreamRequest {
  readonly stream: StreamName;
  /** UUID of the WebSocket connection. */
  readonly connection: string;
  /** For private streams: the configured name of the account. */
  readonly account?: string;
  /** For feeds recorded as they come: the configured name of the feed. */
  readonly feed?: string;
}

/** `req` of a REST response. */
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

/** `feed`: recorded as it comes, by its address. */
export type StreamName = 'order-book' | 'chance' | 'orders' | 'balance' | 'feed';

/**
 * A mark: what a collector knows about its own sight. The envelope's `at` is the time it speaks of. `alive` is sent
 * after the acknowledgements and says: everything received up to `at` is durable, up to `acked[topic]` per topic.
 */
export type Mark =
  | { readonly type: 'session-started'; readonly collector: string; readonly version: string; readonly shard: string }
  | { readonly type: 'alive'; readonly acked: Readonly<Record<string, number>> }
  | { readonly type: 'session-stopped'; readonly cause: string }
  | { readonly type: 'connected'; readonly stream: StreamName; readonly connection: string; readonly url: string }
  | { readonly type: 'disconnected'; readonly stream: StreamName; readonly connection: string; readonly cause: string }
  | {
      /**
       * The subscription is confirmed and its first state received; `at` is when that state was received. For a private
       * stream: AUTH was accepted. For a feed: it is connected.
       */
      readonly type: 'subscribed';
      readonly stream: StreamName;
      readonly connection: string;
      /** Event ID; for a private stream the configured name of the account, for a feed its name. */
      readonly event: string;
      /** Market IDs; for the balance stream asset IDs. */
      readonly markets: readonly string[];
    }
  | {
      readonly type: 'unsubscribed';
      readonly stream: StreamName;
      readonly connection: string;
      readonly event: string;
      readonly cause: string;
    }
  | {
      /** The subscription stopped speaking while the socket stayed open; `since` (Unix micros) is its last proof of life. */
      readonly type: 'frozen';
      readonly stream: StreamName;
      readonly connection: string;
      readonly event: string;
      readonly since: number;
      readonly cause: string;
    }
  | {
      /** A probe's answer equalled the known state: the silence was quiet. */
      readonly type: 'quiet';
      readonly stream: StreamName;
      readonly connection: string;
      readonly event: string;
    }
  | {
      /** Chance history of [from, to] (Unix micros) was fetched for the market and is on the bus. */
      readonly type: 'repaired';
      readonly stream: 'chance';
      readonly event: string;
      readonly market: string;
      readonly from: number;
      readonly to: number;
      readonly poll: string;
    }
  | {
      /** The receipt of a poll. */
      readonly type: 'poll';
      /** UUID; `req.poll` of the records that it brought. */
      readonly poll: string;
      /** Name of the client's operation. */
      readonly operation: string;
      /** What it asked about: for account records the configured name of the account, `activity` for the feed. */
      readonly subject: string;
      readonly startedAt: number;
      /** Items that the exchange said there are, when it says. */
      readonly expected: number | null;
      readonly got: number;
      readonly unique: number;
      readonly pages: number;
      readonly truncated: boolean;
      readonly outcome: 'complete' | 'incomplete' | 'failed';
      readonly cause: string;
    };

export interface EnvelopeFields {
  kind: RecordKind;
  sid: string;
  n: number;
  at: number;
  /** `req` as JSON text, made once per connection or request. */
  reqJson: string;
  enc?: 'text' | 'base64' | undefined;
  piece?: { i: number; of: number } | undefined;
  /** The body as JSON text. */
  bodyJson: string;
}

/** The text of a raw record's value. */
export function encodeEnvelope(f: EnvelopeFields): string {
  const enc = f.enc ? `"enc":"${f.enc}",` : '';
  const piece = f.piece ? `"piece":{"i":${f.piece.i},"of":${f.piece.of}},` : '';
  return `{"v":1,"kind":"${f.kind}","sid":"${f.sid}","n":${f.n},"at":${f.at},"req":${f.reqJson},${enc}${piece}"body":${f.bodyJson}}`;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface EncodedBody {
  /** As JSON text. */
  bodyJson: string;
  enc?: 'text' | 'base64';
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
    return { bodyJson: `"${received.toString('base64')}"`, enc: 'base64' };
  }
  const excess = jsonExcess(received);
  if (excess !== undefined) return { bodyJson: JSON.stringify(text), enc: 'text', excess };
  try {
    return { parsed: JSON.parse(text), bodyJson: text };
  } catch {
    return { bodyJson: JSON.stringify(text), enc: 'text' };
  }
}
