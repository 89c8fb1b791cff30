import { JSON_BYTES } from '../../core/index.js';
import { same, viewOf } from '../native/id-table.js';
import type { Interned } from '../native/interned.js';
import { DELTA, NO_PRICE, type ScannedFrame, SNAPSHOT } from '../tables/price-ticks.js';
import type { RawEnvelope } from '../tables/raw-records.js';
import { END_RECEIVED_AT, FIRST_RECEIVED_AT } from './envelope.js';

const KIND = 'order-book.frame';
const BEFORE_SID = textBytes(`{"v":1,"kind":"${KIND}","sid":"`);
const BEFORE_N = textBytes(',"n":');
const BEFORE_AT = textBytes(',"at":');
const BEFORE_REQ = textBytes(',"req":');
const BEFORE_BODY = textBytes(',"body":');
const DELTA_TYPE = textBytes('"PRICES_DATA_DELTA"');
const SNAPSHOT_TYPE = textBytes('"PRICES_DATA"');

const SMALL_T = 0x74;
const SMALL_E = 0x65;
const SMALL_D = 0x64;
const SMALL_O = 0x6f;
const SMALL_C = 0x63;
const SMALL_B = 0x62;
const SMALL_A = 0x61;
const DOT = 0x2e;
const ZERO = 0x30;
const { QUOTE, BACKSLASH, COMMA, COLON, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY } = JSON_BYTES;
const UUID_LENGTH = 36;
/** Maximum number of request texts that are stored; a collector has few order book connections. */
const MAX_REQUESTS = 32;

/**
 * Reads the common form of an order book record from its bytes, without creating an object or a string: the envelope as
 * written by `encodeEnvelope`, and a PRICES_DATA or PRICES_DATA_DELTA frame without spaces, escapes or further fields,
 * with known session, request, event and market IDs. Anything else is rejected; what is accepted is read exactly as by
 * `readEnvelope` and `transformOrderBookFrame`.
 *
 * The fields hold the last accepted record. Sessions, events and markets are numbers of the partition's ID table.
 */
export class OrderBookScanner implements RawEnvelope, ScannedFrame {
  receivedAt = 0;
  sessionId = 0;
  sequence = 0;
  readonly kind: number;
  readonly encoding: number;
  readonly piece = 0;
  readonly pieces = 1;
  requestSource: Uint8Array = BEFORE_SID.bytes;
  requestStart = 0;
  requestEnd = 0;
  bodySource: Uint8Array = BEFORE_SID.bytes;
  bodyStart = 0;
  bodyEnd = 0;

  event = 0;
  /** SNAPSHOT or DELTA. */
  source = 0;
  /** Number of entries; the arrays below may be longer. */
  entries = 0;
  market = new Int32Array(64);
  /** Numbers of the partition's price table; bid and ask may be NO_PRICE. */
  last = new Int32Array(64);
  bid = new Int32Array(64);
  ask = new Int32Array(64);

  #bytes: Uint8Array = BEFORE_SID.bytes;
  #view = BEFORE_SID.view;
  #at = 0;
  #end = 0;
  readonly #requests: TextBytes[] = [];
  #request = 0;
  readonly #interned: Interned;

  constructor(interned: Interned) {
    this.#interned = interned;
    this.kind = interned.ids.intern(KIND);
    this.encoding = interned.ids.intern('json');
  }

  /** Sets the bytes for the next scans. */
  use(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.requestSource = bytes;
    this.bodySource = bytes;
  }

  /** Stores the text of a valid `req`, so that records with the same one are accepted. */
  learnRequest(text: Uint8Array): void {
    if (text.length > 1024) return;
    if (this.#requests.some((known) => Buffer.compare(known.bytes, text) === 0)) return;
    const copy = textBytes(Buffer.from(text).toString('utf8'));
    if (this.#requests.length === MAX_REQUESTS) this.#requests.shift();
    this.#requests.push(copy);
    this.#request = this.#requests.length - 1;
  }

  /** Scans the record `bytes[start .. end)`; true when it has the common form, then the fields have its values. */
  scan(start: number, end: number): boolean {
    this.#at = start;
    this.#end = end;
    if (!this.#literal(BEFORE_SID)) return false;
    this.sessionId = this.#id();
    if (this.sessionId < 0 || !this.#literal(BEFORE_N)) return false;
    this.sequence = this.#whole();
    if (this.sequence < 1 || !this.#literal(BEFORE_AT)) return false;
    this.receivedAt = this.#whole();
    if (this.receivedAt < FIRST_RECEIVED_AT || this.receivedAt >= END_RECEIVED_AT) return false;
    if (!this.#literal(BEFORE_REQ)) return false;
    this.requestStart = this.#at;
    if (!this.#knownRequest()) return false;
    this.requestEnd = this.#at;
    if (!this.#literal(BEFORE_BODY)) return false;
    this.bodyStart = this.#at;
    this.bodyEnd = end - 1;
    return this.#frame() && this.#at === end - 1 && this.#bytes[end - 1] === CLOSE_OBJECT;
  }

  /** `{"t":…,"e":…,"d":[…]}`, each once, in any order. */
  #frame(): boolean {
    if (this.#next() !== OPEN_OBJECT) return false;
    this.source = 0;
    this.event = -1;
    this.entries = -1;
    for (;;) {
      switch (this.#name()) {
        case SMALL_T:
          if (this.source !== 0) return false;
          if (this.#literal(DELTA_TYPE)) this.source = DELTA;
          else if (this.#literal(SNAPSHOT_TYPE)) this.source = SNAPSHOT;
          else return false;
          break;
        case SMALL_E:
          if (this.event >= 0 || this.#next() !== QUOTE) return false;
          this.event = this.#id();
          if (this.event < 0) return false;
          break;
        case SMALL_D:
          if (this.entries >= 0 || !this.#list()) return false;
          break;
        default:
          return false;
      }
      const next = this.#next();
      if (next === CLOSE_OBJECT) return this.source !== 0 && this.event >= 0 && this.entries >= 0;
      if (next !== COMMA) return false;
    }
  }

  #list(): boolean {
    if (this.#next() !== OPEN_ARRAY) return false;
    this.entries = 0;
    if (this.#bytes[this.#at] === CLOSE_ARRAY) {
      this.#at += 1;
      return true;
    }
    for (;;) {
      if (this.entries === this.market.length) this.#growEntries();
      if (!this.#entry(this.entries)) return false;
      this.entries += 1;
      const next = this.#next();
      if (next === CLOSE_ARRAY) return true;
      if (next !== COMMA) return false;
    }
  }

  /** `{"o":…,"c":…,"b":…,"a":…}`, each once, in any order. */
  #entry(entry: number): boolean {
    if (this.#next() !== OPEN_OBJECT) return false;
    let seen = 0;
    for (;;) {
      let field = 0;
      switch (this.#name()) {
        case SMALL_O: {
          field = 1;
          if (this.#next() !== QUOTE) return false;
          const market = this.#id();
          if (market < 0) return false;
          this.market[entry] = market;
          break;
        }
        case SMALL_C: {
          field = 2;
          const price = this.#price(false);
          if (price < 0) return false;
          this.last[entry] = price;
          break;
        }
        case SMALL_B: {
          field = 4;
          const price = this.#price(true);
          if (price < NO_PRICE) return false;
          this.bid[entry] = price;
          break;
        }
        case SMALL_A: {
          field = 8;
          const price = this.#price(true);
          if (price < NO_PRICE) return false;
          this.ask[entry] = price;
          break;
        }
        default:
          return false;
      }
      if ((seen & field) !== 0) return false;
      seen |= field;
      const next = this.#next();
      if (next === CLOSE_OBJECT) return seen === 15;
      if (next !== COMMA) return false;
    }
  }

  #next(): number {
    return this.#at < this.#end ? (this.#bytes[this.#at++] as number) : 0;
  }

  /** Reads a one-letter member name and its colon, and returns the letter; 0 for a longer name. */
  #name(): number {
    const at = this.#at;
    if (at + 4 > this.#end) return 0;
    const bytes = this.#bytes;
    if (bytes[at] !== QUOTE || bytes[at + 2] !== QUOTE || bytes[at + 3] !== COLON) return 0;
    this.#at = at + 4;
    return bytes[at + 1] as number;
  }

  #literal(text: TextBytes): boolean {
    const length = text.bytes.length;
    if (this.#at + length > this.#end) return false;
    if (!same(text.bytes, text.view, 0, this.#bytes, this.#view, this.#at, length)) return false;
    this.#at += length;
    return true;
  }

  #knownRequest(): boolean {
    const latest = this.#requests[this.#request];
    if (latest && this.#literal(latest)) return true;
    for (const [i, known] of this.#requests.entries()) {
      if (i === this.#request || !this.#literal(known)) continue;
      this.#request = i;
      return true;
    }
    return false;
  }

  /** Reads a text and its closing quote, and returns its number; -1 when it is unknown. */
  #id(): number {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start + UUID_LENGTH;
    if (end < this.#end && bytes[end] === QUOTE) {
      const number = this.#interned.ids.find(bytes, this.#view, start, end);
      if (number >= 0) {
        this.#at = end + 1;
        return number;
      }
    }
    for (end = start; end < this.#end && bytes[end] !== QUOTE; end++) if (bytes[end] === BACKSLASH) return -1;
    this.#at = end + 1;
    return end === start || end >= this.#end ? -1 : this.#interned.ids.find(bytes, this.#view, start, end);
  }

  /** Reads an integer from 1 that is exact in a double; -1 otherwise. */
  #whole(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    let value = (bytes[at] as number) - ZERO;
    if (!(value >= 1 && value <= 9)) return -1;
    for (at += 1; at < this.#end; at++) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    this.#at = at;
    return value <= Number.MAX_SAFE_INTEGER ? value : -1;
  }

  /**
   * Reads a price of the form `0`, `1` or `0.` and up to 15 digits, and returns its number; less than NO_PRICE otherwise.
   * @param side whether 0 and 1 mean that the side is empty
   */
  #price(side: boolean): number {
    const bytes = this.#bytes;
    const { prices } = this.#interned;
    const first = this.#next() - ZERO;
    if (first === 1) return side ? NO_PRICE : prices.internScaled(10_000);
    if (first !== 0) return MALFORMED;
    if (bytes[this.#at] !== DOT) return side ? NO_PRICE : prices.internScaled(0);
    const start = this.#at + 1;
    let at = start;
    let mantissa = 0;
    for (; at < this.#end; at++) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      mantissa = mantissa * 10 + digit;
    }
    const decimals = at - start;
    this.#at = at;
    if (decimals < 1 || decimals > 15) return MALFORMED;
    if (side && mantissa === 0) return NO_PRICE;
    if (decimals <= 4) return prices.internScaled(mantissa * (TENS[4 - decimals] as number));
    // Both are exact, so the quotient is the double nearest to the text, as with JSON.parse.
    return prices.intern(mantissa / (TENS[decimals] as number));
  }

  #growEntries(): void {
    const grow = (values: Int32Array): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(values.length * 2);
      larger.set(values);
      return larger;
    };
    this.market = grow(this.market);
    this.last = grow(this.last);
    this.bid = grow(this.bid);
    this.ask = grow(this.ask);
  }
}

const MALFORMED = NO_PRICE - 1;
const TENS = Array.from({ length: 16 }, (_, power) => 10 ** power);

interface TextBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

function textBytes(text: string): TextBytes {
  const bytes = new Uint8Array(Buffer.from(text, 'utf8'));
  return { bytes, view: viewOf(bytes) };
}
