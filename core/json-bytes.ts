/**
 * Reads JSON from its bytes, without creating values. Only `jsonExcess` accepts arbitrary bytes; the others require valid
 * JSON.
 */

/** Texts up to this size are parsed unchecked: the slowest of them takes tens of milliseconds. */
const UNBOUNDED_BYTES = 256 * 1024;
/**
 * Maximum number of brackets, colons and commas outside strings, which approximates the values and names that parsing
 * creates. A point of chance history has 5, an entry of an order book snapshot 9: the limit is a little more than the
 * longest history, 10,000 points, of six markets. `npm run bench -- large-frames` measures parsing at this limit.
 */
const MAX_STRUCTURAL = 320_000;
/**
 * Maximum number of different names and short texts. The parser interns each, and objects with different names take far
 * longer than alike ones. Regular responses have few names; maps by market ID have one per market.
 */
const MAX_NAMES = 25_000;
/** Texts up to this length are interned like names. */
const SHORT_TEXT = 10;
const MAX_DEPTH = 1000;

/** The bytes that give a JSON text its structure. */
export const JSON_BYTES = {
  QUOTE: 0x22,
  BACKSLASH: 0x5c,
  COMMA: 0x2c,
  COLON: 0x3a,
  OPEN_OBJECT: 0x7b,
  CLOSE_OBJECT: 0x7d,
  OPEN_ARRAY: 0x5b,
  CLOSE_ARRAY: 0x5d,
} as const;
// Constants of the module are read faster than properties.
const { QUOTE, BACKSLASH, COMMA, COLON, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY } = JSON_BYTES;

/**
 * Why a JSON text would take too long to parse, like `holds more than …`; undefined when it may be parsed. One pass over
 * the bytes, none for a small text; does not check that they are JSON.
 */
export function jsonExcess(bytes: Uint8Array, start = 0, end = bytes.length): string | undefined {
  if (end - start <= UNBOUNDED_BYTES) return undefined;
  const names = new Names();
  let structural = 0;
  let depth = 0;
  /** Start and end of the last string not counted yet: a following colon shows that it was a name. */
  let pending: number | undefined;
  let closed = 0;
  for (let at = start; at < end; at++) {
    switch (bytes[at]) {
      case QUOTE: {
        const opened = at + 1;
        for (at = opened; at < end && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at += 1;
        pending = opened;
        closed = at;
        if (closed - opened <= SHORT_TEXT) {
          names.add(bytes, opened, closed);
          pending = undefined;
        }
        break;
      }
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        structural += 1;
        depth += 1;
        if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} deep`;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        depth -= 1;
        break;
      case COLON:
        structural += 1;
        if (pending !== undefined) names.add(bytes, pending, closed);
        pending = undefined;
        break;
      case COMMA:
        structural += 1;
        break;
    }
    if (structural > MAX_STRUCTURAL) return `holds more than ${MAX_STRUCTURAL} brackets, colons and commas`;
    if (names.count > MAX_NAMES) return `holds more than ${MAX_NAMES} different names and short texts`;
  }
  return undefined;
}

/** FNV-1a. */
const HASH_BASIS = 0x811c9dc5;
const HASH_PRIME = 0x01000193;
/** Bits of a hash that distinguish names: of many thousands, a few collide. */
const HASH_BITS = 20;

/** Counts distinct texts approximately, but deterministically. */
class Names {
  count = 0;
  readonly #seen = new Uint8Array(1 << (HASH_BITS - 3));

  add(bytes: Uint8Array, from: number, to: number): void {
    let hash = HASH_BASIS;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), HASH_PRIME);
    const slot = (hash ^ (hash >>> HASH_BITS)) & ((1 << HASH_BITS) - 1);
    const bit = 1 << (slot & 7);
    const seen = this.#seen[slot >>> 3] ?? 0;
    if ((seen & bit) !== 0) return;
    this.#seen[slot >>> 3] = seen | bit;
    this.count += 1;
  }
}

/** Byte range of a member's value within the text of its object; `end` is exclusive. */
export interface JsonMember {
  readonly start: number;
  readonly end: number;
  /** Number of names of all objects in the value; a repeated name counts twice. */
  readonly names: number;
}

/**
 * The members of a JSON object by name, so that a value can be stored exactly as written. Of a repeated name the last
 * counts, as in JSON.parse.
 * @param max maximum number of members to read
 * @throws SyntaxError for a name that is not JSON
 */
export function jsonMembers(bytes: Buffer, max = Number.POSITIVE_INFINITY): ReadonlyMap<string, JsonMember> {
  const members = new Map<string, JsonMember>();
  let at = skipSpace(bytes, skipSpace(bytes, 0) + 1);
  for (let count = 0; count < max && bytes[at] === QUOTE; count++) {
    const nameEnd = skipString(bytes, at);
    const name = JSON.parse(bytes.toString('utf8', at, nameEnd)) as string;
    const member = valueAt(bytes, skipSpace(bytes, skipSpace(bytes, nameEnd) + 1));
    members.set(name, member);
    at = skipSpace(bytes, member.end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return members;
}

/** Number of names of all objects in a JSON text; a repeated name counts twice. */
export function countJsonNames(bytes: Uint8Array): number {
  return valueAt(bytes, skipSpace(bytes, 0)).names;
}

/** Number of names of all objects in a parsed value: fewer than in its text if an object repeats a name. */
export function countNames(root: object): number {
  let names = 0;
  // Not recursive: nesting may be deeper than the call stack allows.
  const stack: object[] = [root];
  for (let next = stack.pop(); next; next = stack.pop()) {
    if (Array.isArray(next)) {
      for (const value of next) if (typeof value === 'object' && value !== null) stack.push(value);
      continue;
    }
    for (const name in next) {
      names += 1;
      const value: unknown = (next as Readonly<Record<string, unknown>>)[name];
      if (typeof value === 'object' && value !== null) stack.push(value);
    }
  }
  return names;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** @param from the opening quote */
function skipString(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function valueAt(bytes: Uint8Array, start: number): JsonMember {
  const first = bytes[start];
  if (first === QUOTE) return { start, end: skipString(bytes, start), names: 0 };
  let at = start;
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
    while (at < bytes.length && !endsScalar(bytes[at])) at += 1;
    return { start, end: at, names: 0 };
  }
  let depth = 0;
  let names = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    at += 1;
    if (byte === COLON) names += 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) break;
  }
  return { start, end: at, names };
}

const endsScalar = (byte: number | undefined): boolean =>
  byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || isSpace(byte);
